import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { defaultNames, isRegistered, metricsOf, registeredNames } from './metric-names.js';

const ROOT = join(import.meta.dirname, '../../..');
const RUNBOOKS = 'docs/operations';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { groups } = parse(read('deploy/alerts/model-gateway.rules.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('deploy/grafana/model-gateway.json')) as { panels: Panel[] };
const expressions = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);
const sources = globSync('libs/**/src/**/*.ts', {
  cwd: ROOT,
  exclude: ['**/*.spec.ts', '**/*.fixture.ts', '**/generated/**'],
});
const ours = new Set(sources.flatMap((path) => registeredNames(read(path))));
const registered = new Set([...ours, ...defaultNames()]);

function unknownIn(expression: string): string[] {
  const names = metricsOf(expression);
  expect(names).not.toHaveLength(0);
  return names.filter((name) => !isRegistered(name, registered));
}

describe('what operators look at', () => {
  it.each(expressions)('names only metrics that exist in the panel "%s"', (_title, expression) => {
    expect(unknownIn(expression)).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    'has an alert %s over metrics that exist, with severity, summary and a runbook that is there',
    (_name, { expr, labels, annotations }) => {
      expect(unknownIn(expr)).toEqual([]);
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
      expect(annotations.runbook).toMatch(new RegExp(`^${RUNBOOKS}/[a-z-]+\\.md$`, 'i'));
      expect(existsSync(join(ROOT, annotations.runbook))).toBe(true);
    },
  );

  it('shows every metric of ours on the dashboard or in an alert', () => {
    const shown = new Set(
      [...expressions.map(([, expr]) => expr), ...rules.map(({ expr }) => expr)].flatMap(metricsOf),
    );
    const isShown = (name: string): boolean =>
      ['', '_bucket', '_count', '_sum'].some((part) => shown.has(`${name}${part}`));
    expect([...ours].filter((name) => !isShown(name))).toEqual([]);
  });

  it('mentions only alerts and metrics that exist in the runbooks, and each page in their list', () => {
    const alerts = new Set(rules.map(({ alert }) => alert));
    const list = read(`${RUNBOOKS}/README.md`);
    for (const path of globSync(`${RUNBOOKS}/*.md`, { cwd: ROOT })) {
      const text = read(path);
      const gone = (text.match(/\bGateway[A-Z]\w+/g) ?? []).filter((name) => !alerts.has(name));
      const metrics = (
        text.match(
          /\bgateway_[a-z_]+(?:_total|_seconds|_records|_bytes|_units|_rows|_state|_open|_accepting|_debts)\b/g,
        ) ?? []
      ).filter((name) => !isRegistered(name, registered));
      expect([path, ...gone, ...metrics]).toEqual([path]);
      const name = path.slice(RUNBOOKS.length + 1);
      if (name !== 'README.md') expect(list).toContain(`(${name})`);
    }
  });

  it('gives the services of docker-compose.yml the time that a rolling restart takes', () => {
    const { 'x-app': app } = parse(read('docker-compose.yml')) as { 'x-app': { stop_grace_period: string } };
    const [, acceptMs] = /^DRAIN_ACCEPT_MS=(\d+)$/m.exec(read('.env.example')) ?? [];
    const [, graceMs] = /^DRAIN_GRACE_MS=(\d+)$/m.exec(read('.env.example')) ?? [];
    const [, afterS] =
      /`DRAIN_ACCEPT_MS` \+ `DRAIN_GRACE_MS` \+ (\d+) s/.exec(read(`${RUNBOOKS}/rolling-restart.md`)) ?? [];
    expect(parseInt(app.stop_grace_period, 10)).toBeGreaterThanOrEqual(
      (Number(acceptMs) + Number(graceMs)) / 1_000 + Number(afterS),
    );
  });

  it('cannot be fooled by a name that is registered nowhere', () => {
    expect(metricsOf('rate(gateway_never_made_total{job="gateway_x"}[5m])')).toEqual([
      'gateway_never_made_total',
    ]);
    expect(isRegistered('gateway_never_made_total', registered)).toBe(false);
    expect(isRegistered('gateway_crash', registered)).toBe(false);
    expect(isRegistered('gateway_admission_duration_seconds_bucket', registered)).toBe(true);
  });
});
