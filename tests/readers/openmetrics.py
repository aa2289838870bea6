"""Reads OpenMetrics by Prometheus' own parser, from stdin: a JSON list of name, labels and value of each sample."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

samples = [sample for family in text_string_to_metric_families(sys.stdin.read()) for sample in family.samples]
json.dump([[sample.name, sample.labels, sample.value] for sample in samples], sys.stdout)
