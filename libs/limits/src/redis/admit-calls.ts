import type { AdmitRequest, AdmitResult, LimitMetric, LimitScope } from '@gateway/contracts';
import {
  ACCOUNT_RECORD,
  admissionEntries,
  toLimitRejection,
  worstCase,
  type AdmissionEntry,
} from '../admission.js';
import { toScriptLimit, toScriptNano } from '../script-nano.js';
import { minuteOf, minuteResetSeconds } from '../windows.js';
import { bytesOf, doubles, type PreparedScript, type ScriptPipe } from './script-pipe.js';
import { LIMIT_SCRIPTS } from './scripts.js';

/** The constant part of a principal's admission call. */
export interface AdmitCall {
  accountId: string;
  entries: AdmissionEntry[];
  prepared: PreparedScript;
}

/**
 * Nano-USD left of each entry's cap, then of the balance with its credit, after this unit; null where unlimited or not
 * known.
 */
export type Left = readonly (number | null)[];

export interface AdmitAnswer {
  result: AdmitResult;
  /** Rest of an admitted unit's limits. */
  left: Left;
}

/** Admissions as the pipe takes them: all of a command that does not depend on the request is made once a principal. */
export class AdmitCalls {
  /** A principal's scopes are one array for all its requests. */
  private readonly calls = new WeakMap<readonly LimitScope[], AdmitCall>();
  private readonly numbers = Buffer.alloc(48);

  constructor(private readonly pipe: Pick<ScriptPipe, 'prepare'>) {}

  of(request: AdmitRequest): AdmitCall {
    if (request.extra.length > 0) return this.make(request);
    let call = this.calls.get(request.scopes);
    if (call === undefined || call.accountId !== request.accountId) {
      call = this.make(request);
      this.calls.set(request.scopes, call);
    }
    return call;
  }

  /** The arguments before those that were prepared, without node and clock. */
  numbersOf(request: AdmitRequest): string {
    const { numbers } = this;
    numbers.writeDoubleLE(request.accountVersion, 0);
    numbers.writeDoubleLE(toScriptLimit(request.creditLimitNano), 8);
    numbers.writeDoubleLE(toScriptNano(request.reservationNano), 16);
    numbers.writeDoubleLE(worstCase(request), 24);
    numbers.writeDoubleLE(request.tokenEstimate, 32);
    numbers.writeDoubleLE(request.leaseMs, 40);
    return numbers.toString('latin1');
  }

  private make(request: AdmitRequest): AdmitCall {
    const { accountId } = request;
    const entries = admissionEntries(request);
    const tag = `{${accountId}}`;
    const names = [...entries.map(({ name }) => name), ACCOUNT_RECORD];
    const keys = [
      `acct:${tag}`,
      ...names.map((name) => `scope:${tag}:${name}`),
      `units:${tag}`,
      `due:${tag}`,
    ];
    const limits = doubles(entries.flatMap(({ rpm, rpd, tpm, cap }) => [rpm, rpd, tpm, cap]));
    const last = [limits, bytesOf(names.join('\n'))];
    return { accountId, entries, prepared: this.pipe.prepare(LIMIT_SCRIPTS.admit, keys.map(bytesOf), last) };
  }
}

export const RECORD_BYTES = 88;
export const FIRST_RECORD = 17;
/** Places in a record, as the prelude of the scripts lists them. */
export const RECORD_AT = {
  rpm: 8,
  tpm: 16,
  rpd: 32,
  posted: 40,
  unposted: 56,
  reserved: 64,
  validFor: 72,
  worst: 80,
} as const;
const NONE_LEFT: Left = [];
const ADMITTED = 'k'.charCodeAt(0);

/** Throws where the answer is none of the script's. */
export function decodeAdmit(answer: Buffer, call: AdmitCall, request: AdmitRequest): AdmitAnswer {
  if (answer[0] === ADMITTED) return decodeAdmitted(answer, call, request);
  return { result: decodeLine(answer.toString('latin1'), call), left: NONE_LEFT };
}

/** An answer without records. Throws where it is none of the script's. */
export function decodeLine(line: string, call: AdmitCall): AdmitResult {
  const [kind, ...words] = line.split(' ');
  switch (kind) {
    case 'stale':
    case 'missing':
      return { kind, gen: words[0] };
    case 'gone':
    case 'doubted':
      return { kind };
    case 'refused':
      return decodeRejected(words, call);
  }
  throw new Error('the admit script answered an unknown line');
}

export function decodeAdmitted(answer: Buffer, { entries }: AdmitCall, request: AdmitRequest): AdmitAnswer {
  const now = answer.readDoubleLE(1);
  const counters = [];
  const left = [];
  const asksMoney = request.reservationNano > 0n;
  let room = Infinity;
  for (let index = 0; index <= entries.length; index += 1) {
    const at = FIRST_RECORD + RECORD_BYTES * index;
    if (index === entries.length) {
      const credit = toScriptLimit(request.creditLimitNano);
      left.push(leftOf(answer, at, credit, 1));
      room = Math.min(room, remainingOf(answer, at, credit, 1));
      break;
    }
    const { kind, id, counter, cap } = entries[index];
    left.push(leftOf(answer, at, cap, -1));
    room = Math.min(room, remainingOf(answer, at, cap, -1));
    if (counter !== null) continue;
    counters.push({
      kind,
      id,
      rpm: answer.readDoubleLE(at + RECORD_AT.rpm),
      rpd: answer.readDoubleLE(at + RECORD_AT.rpd),
      tpm: answer.readDoubleLE(at + RECORD_AT.tpm),
    });
  }
  const result = {
    kind: 'ok',
    counters,
    minuteResetSeconds: minuteResetSeconds(now),
    minute: minuteOf(now),
    remainingNano: asksMoney && room < Infinity ? room : null,
  } as const;
  return { result, left };
}

/** Returns the rest of a limit beside everything in flight at its worst case. */
function remainingOf(answer: Buffer, at: number, limit: number, sign: 1 | -1): number {
  const inFlight = answer.readDoubleLE(at + RECORD_AT.unposted) + answer.readDoubleLE(at + RECORD_AT.worst);
  return limit + sign * answer.readDoubleLE(at + RECORD_AT.posted) - inFlight;
}

/** `sign`: a cap is used up by what is posted, a balance is what is posted. */
function leftOf(answer: Buffer, at: number, limit: number, sign: 1 | -1): number | null {
  if (limit === Infinity || answer.readDoubleLE(at + RECORD_AT.validFor) !== answer.readDoubleLE(9))
    return null;
  const counted = answer.readDoubleLE(at + RECORD_AT.unposted) + answer.readDoubleLE(at + RECORD_AT.reserved);
  return limit + sign * answer.readDoubleLE(at + RECORD_AT.posted) - counted;
}

const METRICS: readonly string[] = ['rpm', 'rpd', 'tpm', 'spend_cap', 'balance'] satisfies LimitMetric[];

function isMetric(text: string): text is LimitMetric {
  return METRICS.includes(text);
}

function decodeRejected(words: string[], { entries, accountId }: AdmitCall): AdmitResult {
  const [index, metric, current, limit, seconds, reservationsOnly, rpm, minute, held, ...inFlight] = words;
  const [account, batch, video, realtime] = inFlight.map(Number);
  if (!isMetric(metric)) throw new Error('the admit script refused by an unknown metric');
  const reached = {
    entry: index === '0' ? null : entries[Number(index) - 1],
    metric,
    current: Number(current),
    limit: Number(limit),
    resetsInSeconds: seconds === '-' ? null : Number(seconds),
    reservationsOnly: reservationsOnly === '1',
    held: Number(held),
  };
  const keyMinute = { rpm: Number(rpm), resetsInSeconds: Number(minute) };
  return {
    kind: 'refused',
    rejection: toLimitRejection(reached, accountId, { account, batch, video, realtime }),
    // The first record is the key's own.
    ...(entries.at(0)?.kind === 'key' ? { keyMinute } : {}),
  };
}
