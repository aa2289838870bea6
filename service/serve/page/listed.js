// Functions of a selection as the service lists them: rows of values, whose columns are told once.

import { ask, path } from "./ask.js";

/**
 * A report without what functions call, and without their lines.
 * @param {import("./types.d.ts").Parameters} parameters @returns {Promise<import("./types.d.ts").ListedReports>}
 */
export async function listed(parameters) {
  const { columns, reports, warnings } = /** @type {import("./types.d.ts").ListedDocument} */ (await (await ask(path("/v1/report", { ...parameters, compact: "1" }))).json());
  const module = columns.indexOf("module");
  return { warnings, reports: reports.map((report) => ({ ...report, functions: report.functions.map((values) => {
    const row = /** @type {Record<string, string | number | null>} */ ({});
    for (let at = 0; at < columns.length; at++) row[columns[at]] = values[at];
    row.module = report.modules[Number(values[module])];
    return /** @type {any} */ (row);
  }) })) };
}
