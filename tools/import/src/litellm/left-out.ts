import { isTree, treeOf, type ConfigFile, type Path } from './config-file.js';

const READ: Readonly<Record<string, ReadonlySet<string>>> = {
  '': new Set([
    ...['model_list', 'credential_list', 'router_settings', 'litellm_settings', 'general_settings'],
  ]),
  router_settings: new Set([
    ...['model_group_alias', 'fallbacks', 'num_retries', 'timeout', 'provider_budget_config'],
    // Several edges share what they need by the gateway's own Redis.
    ...['redis_host', 'redis_port', 'redis_password', 'redis_url', 'enable_pre_call_checks'],
  ]),
  litellm_settings: new Set([
    ...['fallbacks', 'default_fallbacks', 'num_retries', 'request_timeout', 'set_verbose', 'json_logs'],
    // The gateway leaves out and names what a provider does not take.
    'drop_params',
  ]),
  general_settings: new Set(['database_url', 'store_model_in_db', 'database_connection_pool_limit']),
};

const WORDS: Readonly<Record<string, string>> = {
  guardrails: 'guardrails have no counterpart',
  environment_variables: 'set them in the environment of the gateway: values are not copied',
  include: 'included files are not read: import each of them, or join them',
  mcp_servers: 'MCP servers have no counterpart',
  callbacks:
    'callbacks have no counterpart: metrics, traces (OpenTelemetry), webhooks and events are built in',
  success_callback:
    'callbacks have no counterpart: metrics, traces (OpenTelemetry), webhooks and events are built in',
  failure_callback:
    'callbacks have no counterpart: metrics, traces (OpenTelemetry), webhooks and events are built in',
  service_callbacks:
    'callbacks have no counterpart: metrics, traces (OpenTelemetry) and webhooks are built in',
  cache: 'answers are cached for keys with response_cache, not for all',
  cache_params: 'answers are cached for keys with response_cache, not for all',
  context_window_fallbacks: 'a fallback for long inputs alone has no counterpart',
  content_policy_fallbacks: 'a fallback for refused contents alone has no counterpart',
  max_budget: 'a budget of the whole proxy has no counterpart: give each organization one',
  budget_duration: 'a budget of the whole proxy has no counterpart: give each organization one',
  routing_strategy:
    'only simple-shuffle (weights), latency-based-routing and cost-based-routing have a counterpart',
  allowed_fails: 'breakers are built in and need no setting',
  cooldown_time: 'breakers are built in and need no setting',
  retry_policy: 'retries by kind of error are built in; max_retries bounds them',
  master_key: 'an administrator signs in with a password or OIDC: the key is not copied',
  alerting: 'alerts are set per organization: webhooks, e-mail, Slack (docs/webhooks.md)',
  max_parallel_requests: 'a limit of parallel requests has no counterpart',
  global_max_parallel_requests: 'a limit of parallel requests has no counterpart',
  pass_through_endpoints: 'pass-through endpoints have no counterpart',
};
const STRATEGIES = new Set(['simple-shuffle', 'latency-based-routing', 'cost-based-routing']);

/** Tells each setting that has no counterpart, with its place. */
export function tellLeftOut({ root }: ConfigFile, tell: (at: Path, words: string) => void): void {
  for (const [section, read] of Object.entries(READ)) {
    const tree = section === '' ? root : treeOf(root, section);
    for (const [name, value] of Object.entries(tree)) {
      if (read.has(name) || (name === 'routing_strategy' && STRATEGIES.has(String(value)))) continue;
      // A list of settings of one kind is told entry by entry.
      const at = section === '' ? [name] : [section, name];
      const entries =
        Array.isArray(value) && value.some(isTree) ? value.map((_, index) => [...at, index]) : [at];
      for (const place of entries) tell(place, WORDS[name] ?? 'has no counterpart');
    }
  }
}
