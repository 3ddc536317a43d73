export { Usd, settledNano } from './usd.js';
export { withNulls } from './price-record.js';
export type { ContextValue } from './price-record.js';
export { TOKEN_CLASSES, tokenClasses } from './unit-usage.js';
export { servesTier, speechRates } from './compile-price.js';
export { price, priceLines } from './price.js';
export type { PriceInput, PriceLine, PriceTerms } from './price.js';
export { owedTo } from './owed.js';
export { LATE_USAGE_MS, chargeFor } from './charge.js';
export type { Charge, ChargeCase, Disconnect, FailedAttempt } from './charge.js';
export { estimateInput, estimateTokens, estimateUsage } from './estimate.js';
export type { SentInput, UnitTraffic } from './estimate.js';
export { plausibleUsage, recordingBound, transcriptionBound, usageBound } from './plausible-usage.js';
export type { PlausibleUsage, UsageBound } from './plausible-usage.js';
export { p95OutputTokens, reservation } from './reservation.js';
export type { BillableUnits, ReservationRequest, ReservedRoute } from './reservation.js';
export {
  bestDiscounted,
  cheapestRoute,
  compareOutputPrices,
  comparePrices,
  discounted,
  isAtMost,
} from './catalogue-price.js';
export type { PricedOutput, PricedRoute } from './catalogue-price.js';
export { changePct } from './change-pct.js';
export { hasWindows, nextPriceEdge, priceAt, scheduledPrices } from './price-windows.js';
export { validatePriceRecord } from './validate-price.js';
export type { PricedModelType } from './validate-price.js';
