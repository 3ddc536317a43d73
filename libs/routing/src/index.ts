export { CatalogueIndex, modelNotFound } from './catalogue-index.js';
export { accessOf, matchesModel, requireAccess } from './model-access.js';
export { planRoutes } from './plan.js';
export type { Plan, PlannedRoute, PlanOptions } from './plan.js';
export { RetryBudget } from './retry-budget.js';
export { attemptsFailed, runAttempts } from './run-attempts.js';
export type { AttemptsOptions, Breakers } from './run-attempts.js';
export type { RouteTerms } from './terms.js';
