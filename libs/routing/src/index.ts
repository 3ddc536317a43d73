export { CatalogueIndex } from './catalogue-index.js';
export { accessOf, requireAccess } from './model-access.js';
export { planRoutes } from './plan.js';
export type { Plan, PlannedRoute } from './plan.js';
export { RetryBudget } from './retry-budget.js';
export { attemptsFailed, runAttempts } from './run-attempts.js';
export type { Breakers } from './run-attempts.js';
