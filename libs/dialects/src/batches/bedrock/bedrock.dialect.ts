import { writeJson } from '@gateway/json-body';
import { isObject, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { badReply } from '../../translation/exchange.js';
import { jsonBody, JSON_TYPE, lookAtPath } from '../../translation/upstream-body.js';
import { idOf, pageOf } from '../batch-id.js';
import type { BatchAnswer, BatchCalls, BatchesDialect, BatchPlace } from '../batches-dialect.js';

const ASKED = /^\/model\/([^/]+)\/converse$/;
const JOBS = '/model-invocation-jobs';
const JOB = '/model-invocation-job';
/** Path of objects in the operator's bucket, for questions to the provider. */
const OBJECTS = '/batch-objects';
const ARN = /^arn:aws[a-z-]*:bedrock:[a-z0-9-]{1,32}:\d{12}:model-invocation-job\/([a-z0-9]{1,64})$/;
const NAME = /^batch-[0-9a-f-]{36}$/;
const RECORD = /^LINE(\d{7})$/;
const PAGE = 100;
const PAGES_MAX = 50;
/** The least that it takes. */
const JOB_HOURS = 24;
const ENDED: ReadonlySet<string> = new Set([
  'Completed',
  'PartiallyCompleted',
  'Failed',
  'Stopped',
  'Expired',
]);

/**
 * Batch inference of Amazon Bedrock: lines and answers are objects in a bucket of the operator's, which a job reads and writes
 * under a role of the operator's. Lines are requests to Converse (`modelInvocationType`).
 *
 * docs.aws.amazon.com/bedrock/latest/APIReference: API_CreateModelInvocationJob (the form, `clientRequestToken`, names),
 * API_GetModelInvocationJob (states, where the output is), API_StopModelInvocationJob;
 * docs.aws.amazon.com/bedrock/latest/userguide: batch-inference-data (recordId, modelInput), batch-inference-results
 * (`<output>/<job>/<file>.out`, `modelOutput` or `error`); docs.aws.amazon.com/general/latest/gr/bedrock: 100 records at least,
 * 50,000 a file.
 */
export const dialect: BatchesDialect = {
  name: 'bedrock-batches',
  bytesMax: 100 * 1_048_576,
  linesMin: 100,
  needsPlace: true,
  takes: (path) => ASKED.test(path),

  line: (number, { pieces }) =>
    Buffer.concat([
      Buffer.from(`{"recordId":"LINE${String(number).padStart(7, '0')}","modelInput":`),
      ...pieces,
      Buffer.from('}\n'),
    ]),

  async upload(calls, lines, name) {
    const file = `${folderOf(jobNameOf(name))}/lines.jsonl`;
    const byteLength = lines.reduce((sum, line) => sum + line.byteLength, 0);
    await calls.put({
      ...{ method: 'PUT', path: `${OBJECTS}/${file}`, contentType: 'application/jsonl', accept: '*/*' },
      ...{ pieces: lines, byteLength },
    });
    return file;
  },

  async find(calls, { name }) {
    const jobName = jobNameOf(name);
    let token = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = `nameContains=${jobName}&maxResults=${PAGE}`;
      const next = token === '' ? '' : `&nextToken=${encodeURIComponent(token)}`;
      const { invocationJobSummaries, nextToken } = await calls.send(lookAtPath(`${JOBS}?${query}${next}`));
      const found = objectsOf(invocationJobSummaries).find((job) => job.jobName === jobName);
      if (found) return [arnOf(found.jobArn)];
      token = pageOf(nextToken);
      if (token === '') return [];
    }
    return [];
  },

  /** The token makes a repeat no second job. */
  async create(calls, { name, file, path }) {
    const { bucket, roleArn } = placeOf(calls);
    const jobName = jobNameOf(name);
    const inUri = `s3://${bucket}/${file}`;
    const outUri = `s3://${bucket}/${folderOf(jobName)}/answers/`;
    const job = {
      ...{ jobName, clientRequestToken: jobName, roleArn, modelId: modelOf(path) },
      modelInvocationType: 'Converse',
      inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: inUri } },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: outUri } },
      timeoutDurationInHours: JOB_HOURS,
    };
    return arnOf((await calls.send(jsonBody(JOB, JSON_TYPE, job))).jobArn);
  },

  async look(calls, id) {
    const job = await calls.send(lookAtPath(pathOf(id)));
    if (!hasEnded(job)) return null;
    const jobName = textOf(job.jobName);
    // Where its answers are follows from its name: an address that it names is not called.
    if (!NAME.test(jobName)) throw badReply('the job has no name of ours.');
    const folder = `${folderOf(jobName)}/answers/${ARN.exec(arnOf(id))?.[1] ?? ''}`;
    return [{ ...lookAtPath(`${OBJECTS}/${folder}/lines.jsonl.out`), accept: '*/*' }];
  },

  async cancel(calls, id) {
    const job = await calls.send(lookAtPath(pathOf(id)));
    if (!hasEnded(job) && job.status !== 'Stopping')
      await calls.put(jsonBody(`${pathOf(id)}/stop`, JSON_TYPE, {}));
  },

  answer: (text) => answerOf(spelledJsonOf(text)),
};

function hasEnded({ status }: JsonObject): boolean {
  return ENDED.has(textOf(status));
}

function answerOf(value: unknown): BatchAnswer | null {
  if (!isObject(value)) return null;
  const number = RECORD.exec(textOf(value.recordId))?.[1];
  if (number === undefined) return null;
  const line = Number(number);
  if (isObject(value.modelOutput)) return { line, status: 200, body: writeJson(value.modelOutput) };
  if (!isObject(value.error)) return null;
  const { errorCode, errorMessage } = value.error;
  const isStatus = typeof errorCode === 'number' && Number.isInteger(errorCode) && errorCode >= 400;
  const status = isStatus && errorCode <= 599 ? errorCode : 500;
  return { line, status, body: JSON.stringify({ message: textOf(errorMessage) }) };
}

/** Letters, digits and hyphens: what names and tokens of jobs may be. */
function jobNameOf(name: string): string {
  const jobName = name.replace('_', '-');
  if (!NAME.test(jobName)) throw new TypeError('a batch has no name that a job may have');
  return jobName;
}

function folderOf(jobName: string): string {
  return `batches/${jobName}`;
}

function modelOf(path: string): string {
  return decodeURIComponent(ASKED.exec(path)?.[1] ?? '');
}

function placeOf({ place }: BatchCalls): BatchPlace {
  if (place === undefined) throw new TypeError('there is no bucket for batches');
  return place;
}

/** Throws ExchangeFailure. */
function arnOf(value: unknown): string {
  const arn = idOf(value);
  if (!ARN.test(arn)) throw badReply('the answer names no job.');
  return arn;
}

function pathOf(id: string): string {
  return `${JOB}/${encodeURIComponent(arnOf(id))}`;
}
