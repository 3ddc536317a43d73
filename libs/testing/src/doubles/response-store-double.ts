import { setTimeout as pause } from 'node:timers/promises';
import {
  ResponseStore,
  type ReserveMemory,
  type NamedFile,
  type RecalledItems,
  type ResponseLink,
  type StoredResponse,
} from '@gateway/contracts';

/** Time that the store waits for an item whose response is still on its way to it. */
const LATE_MS = 500;
const LOOK_MS = 10;

/** Responses in memory, and what is known of files. `faults` are thrown by the next writes, one each. */
export class ResponseStoreDouble extends ResponseStore {
  readonly kept: StoredResponse[] = [];
  readonly faults: Error[] = [];
  /** Files by their ids. */
  readonly known = new Map<string, NamedFile & { key_id: string }>();

  override async store(responses: readonly StoredResponse[]): Promise<void> {
    const fault = this.faults.shift();
    if (fault) throw fault;
    this.kept.push(...responses);
  }

  override async recall(
    keyId: string,
    link: ResponseLink,
    reserveMemory: ReserveMemory,
  ): Promise<RecalledItems | null> {
    const own = this.kept.filter(({ key_id }) => key_id === keyId);
    const chain: StoredResponse[] = [];
    if ('response_id' in link) {
      for (let id: string | null = link.response_id; id !== null;) {
        const found = own.find((one) => one.id === id);
        if (!found) break;
        chain.unshift(found);
        id = found.previous_response_id;
      }
    } else chain.push(...own.filter(({ conversation_id }) => conversation_id === link.conversation_id));
    const last = chain.at(-1);
    if (!last) return null;
    const items = chain.flatMap(({ input, response }) => [
      ...input,
      ...(response.output as Record<string, unknown>[]),
    ]);
    reserveMemory(Buffer.byteLength(JSON.stringify(items)));
    return { items, credential: last.credential };
  }

  override async items(
    keyId: string,
    ids: readonly string[],
    reserveMemory: ReserveMemory,
  ): Promise<ReadonlyMap<string, Record<string, unknown>>> {
    let found = this.itemsOf(keyId, ids);
    for (let waited = 0; waited < LATE_MS && found.size < new Set(ids).size; waited += LOOK_MS) {
      await pause(LOOK_MS);
      found = this.itemsOf(keyId, ids);
    }
    reserveMemory(Buffer.byteLength(JSON.stringify([...found.values()])));
    return found;
  }

  override async files(keyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedFile>> {
    return new Map([...this.known].filter(([id, { key_id }]) => key_id === keyId && ids.includes(id)));
  }

  override async forget(accountId: string, endUserHash: string, until: Date): Promise<void> {
    const fault = this.faults.shift();
    if (fault) throw fault;
    const isErased = (one: StoredResponse): boolean =>
      one.account_id === accountId &&
      one.end_user_hash === endUserHash &&
      one.created_at * 1_000 <= until.getTime();
    this.kept.splice(0, this.kept.length, ...this.kept.filter((one) => !isErased(one)));
  }

  private itemsOf(keyId: string, ids: readonly string[]): Map<string, Record<string, unknown>> {
    const own = this.kept.filter(({ key_id }) => key_id === keyId);
    const items = own.flatMap(({ input, response }) => [
      ...input,
      ...(response.output as Record<string, unknown>[]),
    ]);
    return new Map(
      items.filter(({ id }) => ids.includes(id as string)).map((item) => [String(item.id), item]),
    );
  }
}
