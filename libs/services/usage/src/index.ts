export { UsageConfig } from './usage.config.js';
export { readUsageConfig } from './read-usage-config.js';
export { UsageModule } from './usage.module.js';
export { SCHEMA as USAGE_SCHEMA, SCHEMA_DIR as USAGE_SCHEMA_DIR } from './postgres/usage-database.js';
export { seededLimitStore } from './reads/seeded-limit-store.js';
export { LedgerOperator } from './operator/ledger-operator.js';
export { DIFFERENCES } from './reconcile/finding.js';
export type { FullProof } from './reconcile/full-reconciliation.js';
