import { json, keep, saidTo } from '../batches/spoken-turns.js';
import type { NativeError } from '../error-table.js';
import { objectOf, objectsOf, parseJson, textOf, type JsonObject } from '../json.js';
import type { SimAnswer, SimEndpoint } from '../sim-endpoint.js';

interface Job {
  readonly jobArn: string;
  readonly jobName: string;
  readonly modelId: string;
  /** Paths of objects below the store. */
  readonly input: string;
  readonly output: string;
  looks: number;
  status: 'InProgress' | 'Completed' | 'Stopped';
}

const LOOKS = 2;
const LINES_MIN = 100;
const URI = /^s3:\/\/([^/]+\/.+)$/;
const objects = new Map<string, string>();
const jobs = new Map<string, Job>();
let count = 0;

/**
 * Amazon Bedrock's Converse and its batch inference, with the objects of a store beside it under `/<bucket>/batches/`: at work
 * at the first two looks, ended at the third.
 */
export const simulated: readonly SimEndpoint[] = [
  {
    path: '/converse',
    answer: ({ path, json: body = {} }) => {
      const answer = answered(decodeURIComponent(/\/model\/([^/]+)\//.exec(path)?.[1] ?? ''), body);
      return 'status' in answer ? answer : json(answer.output);
    },
  },
  {
    path: '/lines.jsonl',
    method: 'PUT',
    answer: ({ path, body }) => {
      keep(objects, path, body.toString('utf8'));
      return { contentType: 'text/plain', body: '' };
    },
  },
  {
    path: '/lines.jsonl.out',
    method: 'GET',
    answer: ({ path }) => {
      const job = [...jobs.values()].find(({ output }) => output === path);
      if (job === undefined || job.status === 'InProgress') return failure(404, 'NoSuchKey');
      return { contentType: 'application/octet-stream', body: resultLines(job) };
    },
  },
  {
    path: '/model-invocation-job',
    answer: ({ json: body = {} }) => begun(body),
  },
  {
    path: '/model-invocation-jobs',
    method: 'GET',
    answer: ({ path }) => {
      const wanted = new URL(path, 'http://localhost').searchParams.get('nameContains') ?? '';
      const found = [...jobs.values()].filter(({ jobName }) => jobName.includes(wanted));
      return json({ invocationJobSummaries: found.map(shown) });
    },
  },
  {
    path: 'simulatedjob',
    method: 'GET',
    answer: ({ path }) => {
      const job = jobAt(path);
      if (job === undefined) return failure(404, 'ResourceNotFoundException');
      job.looks += 1;
      if (job.looks > LOOKS && job.status === 'InProgress') job.status = 'Completed';
      return json(shown(job));
    },
  },
  {
    path: 'simulatedjob/stop',
    answer: ({ path }) => {
      const job = jobAt(path.replace(/\/stop$/, ''));
      if (job === undefined) return failure(404, 'ResourceNotFoundException');
      if (job.status !== 'InProgress') return failure(409, 'ConflictException');
      job.status = 'Stopped';
      return json({});
    },
  },
];

/** A token that was seen begins nothing. */
function begun(body: JsonObject): SimAnswer | NativeError {
  const jobName = textOf(body.jobName);
  const known = [...jobs.values()].find((job) => job.jobName === jobName);
  if (known !== undefined && textOf(body.clientRequestToken) === jobName)
    return json({ jobArn: known.jobArn });
  const input = pathOf(objectOf(objectOf(body.inputDataConfig).s3InputDataConfig));
  const folder = pathOf(objectOf(objectOf(body.outputDataConfig).s3OutputDataConfig));
  const lines = (objects.get(input) ?? '').split('\n').filter(Boolean);
  if (lines.length < LINES_MIN) return failure(400, 'ValidationException');
  if (!/^arn:aws:iam::\d{12}:role\//.test(textOf(body.roleArn))) return failure(400, 'ValidationException');
  if (body.modelInvocationType !== 'Converse') return failure(400, 'ValidationException');
  count += 1;
  const id = `${count.toString(36).padStart(8, '0')}simulatedjob`;
  const jobArn = `arn:aws:bedrock:us-east-1:000000000000:model-invocation-job/${id}`;
  const output = `${folder}${id}/lines.jsonl.out`;
  const made: Job = {
    jobArn,
    jobName,
    modelId: textOf(body.modelId),
    input,
    output,
    looks: 0,
    status: 'InProgress',
  };
  keep(jobs, jobArn, made);
  return json({ jobArn });
}

function shown({ jobArn, jobName, modelId, status }: Job): object {
  return { jobArn, jobName, modelId, status };
}

/**
 * Returns the lines of a job. One that was stopped has answers for the first half of the lines, as if it had been
 * stopped midway.
 */
function resultLines({ input, modelId, status }: Job): string {
  const lines = (objects.get(input) ?? '').split('\n').filter(Boolean);
  const end = status === 'Stopped' ? Math.ceil(lines.length / 2) : lines.length;
  return lines
    .slice(0, end)
    .map((line) => {
      const { recordId, modelInput } = objectOf(parseJson(line));
      const answer = answered(modelId, objectOf(modelInput));
      const error = 'status' in answer ? { errorCode: answer.status, errorMessage: 'It was refused.' } : null;
      const result = 'status' in answer ? { error } : { modelOutput: answer.output };
      return `${JSON.stringify({ recordId, modelInput, ...result })}\n`;
    })
    .join('');
}

function answered(model: string, body: JsonObject): NativeError | { output: object } {
  const turns = [{ content: body.system }, ...objectsOf(body.messages)];
  const texts = turns.map(({ content }) =>
    objectsOf(content)
      .map(({ text }) => textOf(text))
      .join(''),
  );
  if (objectsOf(body.messages).length === 0) return failure(400, 'ValidationException');
  const said = saidTo(model, texts);
  if ('refused' in said)
    return failure(said.refused, said.refused === 400 ? 'ValidationException' : 'ModelErrorException');
  const { text, tokens } = said;
  const usage = {
    ...{ inputTokens: tokens.prompt, outputTokens: tokens.completion },
    totalTokens: tokens.prompt + tokens.completion,
  };
  const output = { message: { role: 'assistant', content: [{ text }] } };
  return { output: { output, stopReason: 'end_turn', usage, metrics: { latencyMs: 1 } } };
}

function pathOf({ s3Uri }: JsonObject): string {
  return `/${URI.exec(textOf(s3Uri))?.[1] ?? ''}`;
}

function jobAt(path: string): Job | undefined {
  return jobs.get(decodeURIComponent(path.split('/').at(-1) ?? ''));
}

function failure(status: number, code: string): NativeError {
  return { status, headers: { 'x-amzn-errortype': code }, body: { message: code } };
}
