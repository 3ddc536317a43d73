import { compatibleWithOf, isOlderRelease } from '@gateway/database';
import {
  parse,
  type AlterTableCmd,
  type ColumnDef,
  type InsertStmt,
  type Node,
  type RawStmt,
} from 'libpg-query';

/** Line of a script that says since which release nothing reads what it drops. */
const UNUSED_SINCE = /^-- unused-since: (\d+\.\d+\.\d+)$/m;
/** Statements that change no row and no table that is there. */
const HARMLESS = new Set([
  'CreateStmt',
  'CreateEnumStmt',
  'AlterEnumStmt',
  'CreateFunctionStmt',
  'CreateSeqStmt',
  'CommentStmt',
  'GrantStmt',
]);
/** Changes of a table that is there which read none of its rows. */
const HARMLESS_CHANGES = new Set([
  'AT_ColumnDefault',
  'AT_DropNotNull',
  'AT_SetRelOptions',
  'AT_SetStatistics',
  'AT_ValidateConstraint',
]);
/** Functions that PostgreSQL calls once for the default of a new column, not once for each row. */
const CALLED_ONCE = new Set(['now', 'statement_timestamp', 'transaction_timestamp']);

/** Permissions of a script beyond what is always harmless. */
interface Script {
  /** Tables that it creates itself: nobody reads them yet. */
  created: ReadonlySet<string>;
  /** True if it says since when nothing reads what it drops. */
  mayDrop: boolean;
}

/**
 * Faults of a migration's script as sentences: what keeps the former release from running on the schema after it, and
 * what holds a table for long. A statement that is not known to be harmless is a fault.
 * @throws SqlError for a script that PostgreSQL could not parse.
 */
export async function lintMigration(sql: string): Promise<string[]> {
  const { stmts = [] } = await parse(sql);
  const unusedSince = UNUSED_SINCE.exec(sql)?.[1] ?? null;
  const script = { created: new Set(stmts.map(createdTable)), mayDrop: unusedSince !== null };
  return [
    ...headFaults(compatibleWithOf(sql), unusedSince),
    ...(stmts.length > 1 && stmts.some(isConcurrent)
      ? ['A statement with CONCURRENTLY needs a script of its own: it runs outside a transaction.']
      : []),
    ...stmts.flatMap((statement) => statementFaults(statement, script)),
  ];
}

function headFaults(compatibleWith: string | null, unusedSince: string | null): string[] {
  if (compatibleWith === null)
    return ['The first line has to be "-- compatible-with: <oldest release that runs with it>".'];
  return unusedSince !== null && isOlderRelease(compatibleWith, unusedSince)
    ? [`Releases before ${unusedSince} read what is dropped: compatible-with names an older one.`]
    : [];
}

function isConcurrent({ stmt }: RawStmt): boolean {
  if (stmt === undefined) return false;
  return 'IndexStmt' in stmt
    ? stmt.IndexStmt.concurrent === true
    : 'DropStmt' in stmt && stmt.DropStmt.concurrent === true;
}

function createdTable({ stmt }: RawStmt): string {
  return stmt !== undefined && 'CreateStmt' in stmt ? (stmt.CreateStmt.relation?.relname ?? '') : '';
}

function statementFaults({ stmt }: RawStmt, script: Script): string[] {
  const kind = Object.keys(stmt ?? {})[0];
  if (stmt === undefined || HARMLESS.has(kind)) return [];
  if ('AlterTableStmt' in stmt) {
    const table = stmt.AlterTableStmt.relation?.relname ?? '';
    const commands = script.created.has(table) ? [] : (stmt.AlterTableStmt.cmds ?? []);
    return commands.flatMap((node) =>
      'AlterTableCmd' in node ? changeFaults(table, node.AlterTableCmd, script) : [],
    );
  }
  if ('IndexStmt' in stmt) {
    const { relation, concurrent, if_not_exists: isRepeatable, idxname } = stmt.IndexStmt;
    const isFree =
      script.created.has(relation?.relname ?? '') || (concurrent === true && isRepeatable === true);
    return isFree ? [] : [`${idxname}: build an index with CREATE INDEX CONCURRENTLY IF NOT EXISTS.`];
  }
  if ('DropStmt' in stmt) {
    const { removeType, concurrent, missing_ok: isRepeatable } = stmt.DropStmt;
    if (!script.mayDrop) return [DROPS];
    const isFree = removeType !== 'OBJECT_INDEX' || (concurrent === true && isRepeatable === true);
    return isFree ? [] : ['Drop an index with DROP INDEX CONCURRENTLY IF EXISTS.'];
  }
  if ('RenameStmt' in stmt)
    return ['RENAME: the former release reads the old name. Add the new one and drop the old one later.'];
  if ('InsertStmt' in stmt && hasOnlyValues(stmt.InsertStmt)) return [];
  return [`${kind} reads or changes rows, or cannot be judged: let a job of the running service do it.`];
}

const DROPS =
  'DROP: the former release may read it. Say "-- unused-since: <release that no longer reads it>".';

function changeFaults(table: string, change: AlterTableCmd, script: Script): string[] {
  const { subtype = '', def, name } = change;
  if (HARMLESS_CHANGES.has(subtype)) return [];
  if (subtype === 'AT_DropColumn' || subtype === 'AT_DropConstraint') return script.mayDrop ? [] : [DROPS];
  if (subtype === 'AT_AddColumn' && def !== undefined && 'ColumnDef' in def)
    return columnFaults(table, def.ColumnDef);
  if (subtype === 'AT_AddConstraint' && def !== undefined && 'Constraint' in def) {
    const { skip_validation: isNotValid, indexname, conname } = def.Constraint;
    return isNotValid === true || indexname !== undefined
      ? []
      : [
          `${table}.${conname}: add a constraint with NOT VALID or USING INDEX, and validate it in a later script.`,
        ];
  }
  if (subtype === 'AT_SetNotNull')
    return [`${table}.${name}: NOT NULL reads every row and the former release may write null.`];
  if (subtype === 'AT_AlterColumnType')
    return [`${table}.${name}: another type rewrites the table. Add a column and drop the old one later.`];
  return [`${table}: ${subtype} is not known to be harmless.`];
}

/** Faults of a new column: the rows that are there get it without being written, and the former release leaves it out. */
function columnFaults(table: string, { colname, constraints = [] }: ColumnDef): string[] {
  const kinds = constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint] : []));
  const initial = kinds.find(({ contype }) => contype === 'CONSTR_DEFAULT')?.raw_expr;
  const faults: string[] = [];
  if (initial === undefined && kinds.some(({ contype }) => contype === 'CONSTR_NOTNULL'))
    faults.push(`${table}.${colname}: NOT NULL needs a DEFAULT, which the former release's rows get.`);
  if (initial !== undefined && !isOneValue(initial))
    faults.push(`${table}.${colname}: its DEFAULT is computed for each row, which rewrites the table.`);
  const others = kinds.filter(
    ({ contype = '' }) => !['CONSTR_DEFAULT', 'CONSTR_NOTNULL', 'CONSTR_NULL'].includes(contype),
  );
  if (others.length > 0)
    faults.push(`${table}.${colname}: add its constraint by itself, with NOT VALID or USING INDEX.`);
  return faults;
}

/** True if PostgreSQL computes a default once: a constant, a cast of one, the time of the statement. */
function isOneValue(node: Node): boolean {
  if ('A_Const' in node || 'SQLValueFunction' in node) return true;
  if ('TypeCast' in node) return node.TypeCast.arg !== undefined && isOneValue(node.TypeCast.arg);
  if ('A_ArrayExpr' in node) return (node.A_ArrayExpr.elements ?? []).every(isOneValue);
  if (!('FuncCall' in node)) return false;
  const name = node.FuncCall.funcname?.at(-1);
  return name !== undefined && 'String' in name && CALLED_ONCE.has(name.String.sval ?? '');
}

function hasOnlyValues({ selectStmt: rows, withClause }: InsertStmt): boolean {
  return (
    withClause === undefined &&
    rows !== undefined &&
    'SelectStmt' in rows &&
    rows.SelectStmt.valuesLists !== undefined
  );
}
