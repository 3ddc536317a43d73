import type { ProjectionRequest, PutUnit, SpendScope } from '@gateway/contracts';
import { ACCOUNT_RECORD, recordName } from '../admission.js';
import { toScriptNano } from '../script-nano.js';
import { bytesOf, doubles } from './script-pipe.js';

type Scopes = readonly { kind: SpendScope | 'key'; id: string }[];

/** Keys and arguments of one script over some accounts, without node and clock. */
export interface AccountsCall {
  keys: string[];
  args: string[];
}

export function accountKeys(accountId: string): string[] {
  const tag = bytesOf(accountId);
  return [`acct:{${tag}}`, `units:{${tag}}`, `due:{${tag}}`];
}

/** A ledger version is below it; the history of the ledger counts above. */
export const VERSIONS = 2 ** 32;

const ACTIONS = { renew: 0, settle: 1, cancel: 2 } as const;

/** Each item holds units of one account. */
export function putCall(items: readonly (readonly PutUnit[])[]): AccountsCall {
  const heads: number[] = [];
  const numbers: number[] = [];
  const texts: string[] = [];
  for (const units of items) {
    const lists: string[] = [];
    for (const { action, nano, tokens, leaseMs, scopes } of units) {
      const list = listOf(scopes);
      let at = lists.indexOf(list);
      if (at < 0) at = lists.push(list) - 1;
      numbers.push(ACTIONS[action], toScriptNano(nano), tokens, leaseMs, at + 1);
    }
    heads.push(units.length, lists.length);
    texts.push(...lists);
    for (const { unit } of units) texts.push(bytesOf(unit));
  }
  const keys = items.flatMap(([first]) => accountKeys(first.accountId));
  return { keys, args: [doubles(heads), doubles(numbers), ...texts] };
}

export function projectionCall(requests: readonly ProjectionRequest[]): AccountsCall {
  const args: string[] = [];
  for (const { gen, history = 0, version, balanceNano, scopes, units } of requests) {
    const posted = [...scopes.map(({ postedNano }) => postedNano), balanceNano];
    args.push(
      gen ?? '',
      doubles([history * VERSIONS + version, posted.length, units.length]),
      doubles(posted.map(toScriptNano)),
      units.map(({ crash }) => (crash ? '1' : '0')).join(''),
    );
    for (const scope of scopes) args.push(bytesOf(recordName(scope)));
    args.push(ACCOUNT_RECORD);
    for (const { unit } of units) args.push(bytesOf(unit));
  }
  return { keys: requests.flatMap(({ accountId }) => accountKeys(accountId)), args };
}

/** Returns the later versions that the script of a mirror reports, by the request that was late. */
export function laterVersions(
  answer: string,
  requests: readonly ProjectionRequest[],
): Map<ProjectionRequest, number> {
  const later = new Map<ProjectionRequest, number>();
  if (answer === '') return later;
  for (const pair of answer.split(' ')) {
    const [index, version] = pair.split(':');
    later.set(requests[Number(index)], Number(version) % VERSIONS);
  }
  return later;
}

/** A principal's units carry one array of scopes. */
const lists = new WeakMap<Scopes, string>();

function listOf(scopes: Scopes): string {
  let list = lists.get(scopes);
  if (list === undefined) {
    list = bytesOf([...scopes.map(recordName), ACCOUNT_RECORD].join('\n'));
    lists.set(scopes, list);
  }
  return list;
}
