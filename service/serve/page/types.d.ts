// What the service answers, as far as the page reads it, and what parts of the page hand to each other. For the type check alone.

/** What a page shows, as the address has it. */
export type Words = Record<string, string | undefined>;
/** What a view is asked with; a list is the same parameter several times. */
export type Parameters = Record<string, string | (string | undefined)[] | undefined>;

export interface Documents {
  report: { warnings: string[]; reports: Report[] };
  tree: PathsDocument;
  callers: CallersDocument;
  series: { series: Series[]; sampled: SampledSeries[] };
  history: HistoryDocument | SampledHistory;
  heatmap: HistoryDocument;
  profiles: ProfilesDocument;
  samples: SamplesDocument;
  compare: ComparedDocument | SampledComparison;
  verdicts: { verdicts: VerdictFacts[] };
  verdict: { verdict: VerdictFacts; document: ComparedDocument | SampledComparison | SimilarDocument };
  "load/shown": { runs: LoadFacts[] } & LoadFacts & { document: LoadDocument };
}

/** A run of load. */
export interface LoadFacts {
  run: string;
  started_unix_ns: number;
  state: "running" | "over" | "lost";
  target: string;
  summary: string;
}

/** What `diytrace load` writes. */
export interface LoadDocument {
  target: string;
  schedule: string;
  http2?: boolean;
  connections: number;
  warnings: string[];
  summary: string;
  /** The step that goes on. */
  going?: number;
  steps: LoadStep[];
  response?: { from_step: number; to_step: number; functions: { name: string; growth: LoadGrowth }[]; spikes: LoadSpikes[] };
}

/** Moments of a step in which latency was high, and functions that had more time in them. */
export interface LoadSpikes {
  step: number;
  slices: number;
  highest_ns: number;
  correlated: { name: string; share: number; share_else: number }[];
}

export interface LoadGrowth {
  from: { calls_per_request: number; self_ns_per_request: number };
  to: { calls_per_request: number; self_ns_per_request: number };
  self_ns_per_request: number;
  error_ns_per_request: number;
  wait_ns_per_request: number | null;
  share: number;
  why: "calls" | "cost" | "both" | "new";
  has_waited_longer: boolean;
  is_certain: boolean;
}

export interface LoadTimes {
  p50: number | null;
  p90: number | null;
  p99: number | null;
  max: number | null;
}

export interface LoadStep {
  /** Null where connections send as fast as they can. */
  offered_per_s: number | null;
  achieved_per_s: number;
  sent: number;
  not_sent: number;
  not_sent_by: Record<string, number>;
  errors: number;
  errors_by: Record<string, number>;
  latency_ns: LoadTimes;
  from_send_ns: LoadTimes;
  late_ns: LoadTimes;
  timeline: { slice_ns: number; slices: { answered: number; p50_ns: number | null; p90_ns: number | null; p99_ns: number | null }[] };
  workers?: { name: string; connections: number; planned: number; sent: number; answered: number; errors: number; not_sent: number; lost: object | null }[];
}

/** What values of samples are, and what they add up to. */
export interface SampleType {
  type: string;
  unit: string;
  total: number;
}

export interface SampledProfile {
  id: string;
  labels: Record<string, string>;
  ended_unix_ns: number;
  types: SampleType[];
  bytes: number;
}

export interface ProfilesDocument {
  profiles: SampledProfile[];
  left_out: number;
}

export interface SamplesDocument {
  warnings: string[];
  profiles: number;
  types: SampleType[];
  shown: SampleType;
  functions: { name: string; file: string | null; line: number | null; flat: number; cum: number }[];
  tags: { key: string; value: string | number; unit: string | null; total: number }[];
}

export interface SampledSeries {
  labels: Record<string, string>;
  last_unix_ns: number;
  types: { type: string; unit: string }[];
}

/** What values of samples are of. */
export type Per = "second" | "profile" | "share";

export interface SampledSide {
  profiles: number;
  runs: number;
  total: number;
  /** Null where values are no sums of samples. */
  samples: number | null;
  scale: number;
}

export interface SampledTest {
  left_median: number;
  right_median: number;
  difference: number | null;
  plus_minus: number | null;
  p_adjusted: number | null;
}

export interface SampledRow {
  name: string;
  file: string | null;
  verdict: string;
  flat: SampledTest;
  cum: SampledTest;
  sampling: { left: number; right: number; plus_minus: number; p: number; p_adjusted: number | null } | null;
}

export interface SampledComparison {
  left: SampledSide;
  right: SampledSide;
  type: string;
  unit: string;
  per: Per;
  options: { level: number };
  replicates: { of: "profile" | "host"; tests: number; suffice: boolean; needed: number };
  total: { verdict: string; values: SampledTest } | null;
  functions: SampledRow[];
  warnings: string[];
}

export interface SampledHistory {
  over: string;
  /** Of time alone. */
  slice_ns: number | null;
  type: string;
  unit: string;
  per: Per;
  warnings: string[];
  tested: number;
  functions: { name: string; file: string | null; points: SampledPoint[]; steps: SampledStep[] }[];
}

export interface SampledPoint {
  value: string;
  started_unix_ns: number;
  profiles: number;
  flat: number | null;
  flat_plus_minus: number | null;
  cum: number | null;
  share: number | null;
}

export type SampledStep = Step<"flat" | "cum">;

/** Functions as rows of values; `module` is a place in `modules`. */
export interface ListedDocument {
  columns: string[];
  warnings: string[];
  reports: (Omit<Listed, "functions"> & { modules: string[]; functions: (string | number | null)[][] })[];
}

/** The same with the names of their columns. */
export interface ListedReports {
  warnings: string[];
  reports: Listed[];
}

export interface Listed extends ReportFacts {
  all_self_cpu_ns: number | null;
  all_self_wait_ns: number | null;
  functions: ListedFunction[];
}

export interface Report extends ReportFacts {
  functions: FunctionRow[];
}

export interface ReportFacts {
  label?: string | null;
  calls: number;
  processes: number;
  lost_calls: number;
  unlisted: number;
  unlisted_self_ns: number;
  all_self_ns: number;
  /** What of all time others had the processor for; null where nobody knows. */
  all_self_preempted_ns: number | null;
  overhead: { inner_ns: number; outer_ns: number; error_ns: number };
}

/** Percentiles are null where no call was timed. */
export interface Percentiles {
  p50_ns: number | null;
  p90_ns: number | null;
  p99_ns: number | null;
  max_ns: number | null;
}

export interface Callee {
  name: string;
  calls: number;
  total_ns: number;
  self_ns: number;
  self_error_ns?: number;
  /** What of the total and of the self time was spent on a processor, or waiting; null where nobody knows. */
  cpu_ns: number | null;
  wait_ns: number | null;
  self_wait_ns: number | null;
}

export interface ListedFunction extends Callee, Percentiles {
  module: string;
  build?: string | null;
  total_error_ns: number;
  self_error_ns: number;
  mean_ns: number | null;
}

export interface FunctionRow extends ListedFunction {
  file: string | null;
  line: number | null;
  callees: Callee[];
}

/** Call paths as rows of values, whose columns are told once; `function` is a place in `functions`. */
export interface PathsDocument {
  columns: string[];
  functions: [name: string, module: string | null][];
  /** What lies below a node, by its place, and is too little to be told apart: how many, their calls and time. */
  trees: { nodes: (number | null)[][]; hidden: [parent: number | null, nodes: number, calls: number, total_ns: number][] }[];
}

export interface CallersDocument {
  trees: { nodes: CallerNode[] }[];
}

export interface CallerNode {
  depth: number;
  name: string;
  calls: number;
  total_ns: number;
  sites: { file: string | null; line: number | null }[];
}

export interface Series {
  labels: Record<string, string>;
  recordings: number;
  calls: number;
  last_unix_ns: number;
}

export interface HistoryDocument {
  over: string;
  /** Of time alone. */
  slice_ns: number | null;
  /** What came late: all of it is in the slice in which it ended. */
  coarse: { started_unix_ns: number; ended_unix_ns: number }[];
  warnings: string[];
  tested: number;
  functions: Course[];
}

export interface Course {
  name: string;
  module: string;
  points: Point[];
  steps: Step[];
}

export interface Point extends Percentiles {
  value: string;
  started_unix_ns: number;
  runs: number;
  calls: number;
  calls_per_run: number;
  total_ns: number;
  self_ns: number;
  self_per_call_ns: number | null;
  /** Of a heat map alone. */
  histogram?: { from_ns: number; to_ns: number; calls: number }[];
}

export interface Step<M = "self_per_call_ns" | "p50_ns" | "calls_per_run"> {
  measure: M;
  point: number;
  before: number;
  after: number;
  /** As a part of before; null where that was nothing. */
  change: number | null;
  usual: number;
  p: number;
  side_by_side: number | null;
}

/** Medians are null where a function is on one side alone. */
export interface Sides {
  left_median: number | null;
  right_median: number | null;
  p_adjusted: number | null;
}

export interface Compared {
  name: string;
  verdict: string;
  self_ns: Sides;
  calls: Sides;
  /** What of the difference in self time calls make, and what their cost. */
  split: { calls_ns: number | null; cost_ns: number | null };
}

export interface ComparedDocument {
  errors: string[];
  warnings: string[];
  queries: Query[];
}

export interface SimilarDocument {
  warnings: string[];
  left: { name: string; runs: number };
  right: { name: string; runs: number };
  similarity: number;
  metrics: Metric[];
}

/** Averages are null where a side has no values. */
export interface Metric {
  metric: string;
  unit: string;
  left: { average: number | null };
  right: { average: number | null };
  ratio: number | null;
  similarity: number;
  verdict: "missing" | "mismatched" | "matched";
}

/** What is told of a saved verdict beside its document. */
export interface VerdictFacts {
  id: string;
  kind: "bench" | "diff" | "similar";
  saved_unix_ns: number;
  left: string;
  right: string;
  left_select: string;
  right_select: string;
  since: string | null;
  until: string | null;
  replicate: string;
  command: string;
  sentence: string;
  outcome: "pass" | "fail";
}

export interface Query {
  query: string | null;
  functions: Compared[];
  total: { verdict: string };
  left_runs: number;
  right_runs: number;
}

/** A column of a table: what a row has there, and how that is written. */
export interface Column<Row> {
  title: string;
  of: (row: Row) => string | number | null | undefined;
  // What `of` gives is what `write` gets: a list of columns of several types cannot say so.
  write?: (value: any, row: Row) => string | Node;
  isName?: boolean;
  help?: string;
}

/** A field of a form: of text, or with options. */
export interface Field {
  name: string;
  title: string;
  hint?: string;
  isLabels?: boolean;
  options?: [value: string, text: string][];
}

/** A line over points. */
export interface Line<P> {
  name: string;
  of: (point: P) => number | null;
  kind: string;
}

/** Parts of a page; text is never read as markup. */
export type Part = string | Node;
