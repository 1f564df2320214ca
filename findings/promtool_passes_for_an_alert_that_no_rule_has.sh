#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we tried: a unit test of alerting rules for `promtool test rules`, that says an alert does not fire, where a letter of the
# alert's name is wrong.
# Our guess: promtool says that no rule has this alert, as it refuses a rule file that is not there.
# What happens (promtool of prometheus 2.42.0+ds-5+deb12u1, Debian 12): SUCCESS. A name that no rule has is an alert that
# never fires, and so is one that was renamed or deleted, so a test of silence goes on passing after the rule it was about has
# gone. And a test without `exp_alerts` at all is such a test of silence.
# What to do instead: give each alert at least one test in which it fires, and let another check compare the names.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=$(apt-cache madison prometheus | awk '{print $3}' | grep -m1 '^2\.42\.0+ds-5')
apt-get download -qq "prometheus=$version" 2>/dev/null
dpkg -x prometheus_*.deb .

cat >rules.yaml <<'YAML'
groups:
- name: queue
  rules:
  - alert: QueueStuck
    expr: queue_length > 5
YAML
# silent <name of the alert>: a test that says it does not fire, while the rule's does.
silent() {
  cat <<YAML
rule_files: [rules.yaml]
tests:
- interval: 1m
  input_series:
  - {series: queue_length, values: "10 10 10"}
  alert_rule_test:
  - {eval_time: 2m, alertname: $1, exp_alerts: []}
YAML
}
for name in QueueStuck QueueStucck; do
  silent $name >"$name.yaml"
  if usr/bin/promtool test rules "$name.yaml" >/dev/null 2>&1; then echo "$name: SUCCESS"; else echo "$name: FAILED"; fi
done >seen
diff seen - <<'SEEN'
QueueStuck: FAILED
QueueStucck: SUCCESS
SEEN
echo "as seen: promtool $version passes a test of silence for an alert that no rule has"
