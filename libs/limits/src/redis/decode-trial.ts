import type { AdmitRequest, Trial, TrialRecord } from '@gateway/contracts';
import {
  decodeAdmitted,
  decodeLine,
  FIRST_RECORD,
  RECORD_AT,
  RECORD_BYTES,
  type AdmitCall,
} from './admit-calls.js';

const TRIAL = 't'.charCodeAt(0);

/** Throws where the answer is none of the script's to a trial. */
export function decodeTrial(answer: Buffer, call: AdmitCall, request: AdmitRequest): Trial {
  if (answer[0] !== TRIAL) return { result: decodeLine(answer.toString('latin1'), call), records: [] };
  const { entries, accountId } = call;
  const end = FIRST_RECORD + RECORD_BYTES * (entries.length + 1);
  const records = entries.map(({ kind, id, counter }, index) =>
    recordAt(answer, FIRST_RECORD + RECORD_BYTES * index, { scope: kind, scopeId: id, counter }),
  );
  const balance = recordAt(answer, end - RECORD_BYTES, {
    scope: 'account',
    scopeId: accountId,
    counter: null,
  });
  const posted = BigInt(answer.readDoubleLE(end - RECORD_BYTES + RECORD_AT.posted));
  const unposted = BigInt(answer.readDoubleLE(end - RECORD_BYTES + RECORD_AT.unposted));
  const result =
    answer.length === end
      ? decodeAdmitted(answer, call, request).result
      : decodeLine(answer.toString('latin1', end), call);
  return { result, records: [...records, { ...balance, spentNano: posted - unposted }] };
}

function recordAt(
  answer: Buffer,
  at: number,
  of: Pick<TrialRecord, 'scope' | 'scopeId' | 'counter'>,
): TrialRecord {
  const { rpm, rpd, tpm, posted, unposted, worst } = RECORD_AT;
  return {
    ...of,
    rpm: answer.readDoubleLE(at + rpm),
    rpd: answer.readDoubleLE(at + rpd),
    tpm: answer.readDoubleLE(at + tpm),
    spentNano: BigInt(answer.readDoubleLE(at + posted)) + BigInt(answer.readDoubleLE(at + unposted)),
    worstNano: BigInt(answer.readDoubleLE(at + worst)),
  };
}
