/** SQLSTATE query_canceled: what PostgreSQL answers to a statement past its time limit. */
const CANCELED = '57014';

/** True if a statement took longer than it may. */
export function isStatementCanceled(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === CANCELED;
}
