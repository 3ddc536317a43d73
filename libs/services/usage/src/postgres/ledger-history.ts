/**
 * SQL of a number of 20 bits that names the history which ledger versions belong to. Another server process, database or
 * account table begins another: a backup that was restored has lower versions, and a replica that was promoted may have.
 * It also changes with a restart of PostgreSQL, which costs nothing: what comes next is newer all the same.
 */
export const HISTORY = `('x' || left(md5(concat_ws('/', pg_postmaster_start_time(),
  (SELECT oid FROM pg_database WHERE datname = current_database()), pg_relation_filenode('account'))), 5))::bit(20)::int`;
