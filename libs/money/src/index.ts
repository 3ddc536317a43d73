export { Usd, settledNano } from './usd.js';
export type { Rounding } from './exact.js';
export type { PriceMatrixRow, PriceRecord, PriceTier, UnitUsage } from '@gateway/contracts';
export { RATE_FIELDS, withNulls } from './price-record.js';
export type {
  Condition,
  ContextValue,
  PriceContext,
  PricingUnit,
  RateField,
  RateText,
  Rates,
} from './price-record.js';
export { TOKEN_CLASSES, tokenClasses } from './unit-usage.js';
export type { ClassTokens, TokenClass } from './unit-usage.js';
export { compilePrice, servesTier } from './compile-price.js';
export { price } from './price.js';
export type { Byok, PriceInput, PriceLine, PriceResult, PriceTerms } from './price.js';
export { LATE_USAGE_MS, chargeFor } from './charge.js';
export type { Charge, ChargeCase, Disconnect, FailedAttempt, Outcome } from './charge.js';
export { estimateInput, estimateTokens, estimateUsage } from './estimate.js';
export type { EstimatedUsage, SentInput, UnitTraffic } from './estimate.js';
export { p95OutputTokens, reservation } from './reservation.js';
export type { AskedUnits, Reservation, ReservationRequest, ReservedRoute } from './reservation.js';
export { bestDiscounted, cheapestRoute, comparePrices, discounted } from './catalogue-price.js';
export type { DiscountedRates, DiscountedRoute, PricedRoute } from './catalogue-price.js';
export { validatePriceRecord } from './validate-price.js';
export type { PriceFault, PricedModelType } from './validate-price.js';
