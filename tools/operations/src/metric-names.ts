import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * Patterns of a metric's name: its constructor, the registry's gauge functions, or a named constant of a metrics file.
 */
const REGISTERED =
  /(?:name: |gauges?\(\s*|counter\(\s*|histogram\(\s*|shipped\(\s*|written\(\s*|const [A-Z]+ = )'(gateway_\w+)'/g;
/** `gateway_…` is ours; Node's and the process's own come with prom-client. */
const METRIC = /\b(?:gateway|nodejs|process)_[a-z0-9_]+\b/g;
const HISTOGRAM_PARTS = /_(?:bucket|sum|count)$/;

/** Names of the metrics that a source registers. */
export function registeredNames(source: string): string[] {
  return [...source.matchAll(REGISTERED)].map(([, name]) => name);
}

/** Node's and the process's metrics, as every service has them. */
export function defaultNames(): string[] {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const names = register.getMetricsAsArray().map(({ name }) => name);
  register.clear();
  return names;
}

/** Metrics in an expression of Prometheus. Texts in quotes are values of labels. */
export function metricsOf(expression: string): string[] {
  return expression.replaceAll(/"[^"]*"/g, '').match(METRIC) ?? [];
}

/** True where the name, or the histogram that it is a part of, is registered. */
export function isRegistered(name: string, registered: ReadonlySet<string>): boolean {
  return registered.has(name) || registered.has(name.replace(HISTOGRAM_PARTS, ''));
}
