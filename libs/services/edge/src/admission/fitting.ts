import type { AdmitRequest, LimitRejection } from '@gateway/contracts';

/**
 * The same request under caps and a balance that its own cost is taken off. A request may cross a cap; one that memory was
 * attached to has to fit with it, so that what an end user left behind overruns nothing.
 */
export function fittingRequest(request: AdmitRequest): AdmitRequest {
  const { reservationNano, creditLimitNano } = request;
  const less = (nano: bigint | null | undefined): bigint | null =>
    nano == null ? null : nano - reservationNano;
  return {
    ...request,
    scopes: request.scopes.map((scope) => ({ ...scope, capNano: less(scope.capNano) })),
    extra: request.extra.map((counter) => ({ ...counter, capNano: less(counter.capNano) })),
    creditLimitNano: less(creditLimitNano),
  };
}

/** A rejection of that request, with the limit as it stands. */
export function fittingRejection(
  rejection: LimitRejection,
  { reservationNano }: AdmitRequest,
): LimitRejection {
  const { metric, limit } = rejection;
  if (metric !== 'spend_cap' && metric !== 'balance') return rejection;
  // The balance's limit is what may be owed, below 0.
  const own = metric === 'spend_cap' ? reservationNano : -reservationNano;
  return { ...rejection, limit: String(BigInt(limit) + own) };
}
