import { writeJson } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  type Clock,
  type InferenceCall,
  type KeyPrincipal,
} from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { Callers } from '../request/callers.js';
import { findEndpoint } from '../request/endpoint-at.js';
import type { InferenceRequest, Origin } from '../request/inference-request.js';
import { remember } from './remember.js';

const VERSION = '2026-09';
/** Age up to which a record is not read again: admission compares it with the newest. */
const PRINCIPAL_AGE_MS = 30_000;
const PRINCIPALS_MAX = 1_000;

interface Known {
  principal: KeyPrincipal;
  readAtMs: number;
}

/** Names a key, by its id and the account that it is of. */
type OfKey = Pick<InferenceCall, 'key_id' | 'account_id'>;

/** Requests that other services make for keys: for lines of batches, tasks and background responses. */
@Injectable()
export class ServiceRequests {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly principals: PrincipalReader,
    private readonly callers: Callers,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Returns the request of a call; `told`: members of its origin. Throws ApiError where the key may not call. */
  async of(call: InferenceCall, told: Omit<Origin, 'kind'> = {}): Promise<InferenceRequest> {
    const endpoint = findEndpoint(call.endpoint.replace(/^\/v1/, ''));
    if (endpoint === undefined) throw new ApiError('not_found');
    const { request_id: requestId, unit: unitIndex, recorded_path: path } = call;
    // What was done for a key is billed to it, also where it may call no more by now.
    const permission = call.given === undefined ? endpoint.permission : null;
    const principal = await this.principalOf(call, false, permission);
    return {
      requestId,
      unitIndex,
      endpoint,
      path,
      principal,
      apiVersion: principal.apiVersion ?? VERSION,
      receivedAtMs: this.clock.now(),
      startedMs: this.clock.monotonic(),
      headers: { 'content-type': 'application/json' },
      bytes: Buffer.from(writeJson(call.body)),
      origin: { ...told, ...originOf(call) },
      reload: () => this.principalOf(call, true, permission),
    };
  }

  /** Returns the key as it is, also where it may call no more. */
  keyOf({ key_id, account_id }: OfKey): Promise<KeyPrincipal> {
    return this.principals.keyById(key_id, [account_id]);
  }

  /**
   * Returns the principal with the key's present rights; a record that is not older than others' is not read again.
   * Throws ApiError. `permission`: null for a key that may have lost it.
   */
  async principalOf(key: OfKey, isNew: boolean, permission: string | null): Promise<KeyPrincipal> {
    const known = this.known.get(key.key_id);
    const isFresh = known !== undefined && this.clock.monotonic() - known.readAtMs < PRINCIPAL_AGE_MS;
    if (isFresh && !isNew) return known.principal;
    const principal = await this.keyOf(key);
    remember(this.known, key.key_id, { principal, readAtMs: this.clock.monotonic() }, PRINCIPALS_MAX);
    return permission === null ? principal : this.callers.permitted(principal, permission);
  }
}

function originOf({ is_batch: isBatch = false, given: answer }: InferenceCall): Origin {
  if (answer !== undefined) return { kind: 'given', answer, isBatch };
  return { kind: isBatch ? 'batch' : 'background', isBatch };
}
