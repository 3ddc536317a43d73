import { jsonBody } from '../../translation/upstream-body.js';
import { calls, textOf } from '../batch-calls.fixture.js';
import { dialect } from './bedrock.dialect.js';

type Json = Record<string, unknown>;

const ID = '01980000-0000-7000-8000-000000000001';
const NAME = `batch_${ID}`;
const JOB = `batch-${ID}`;
const PATH = '/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse';
const PLACE = { bucket: 'lines', roleArn: 'arn:aws:iam::123456789012:role/batches' };
const ARN = 'arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/abcdef123456';
const FILE = `batches/${JOB}/lines.jsonl`;
const NEW = { name: NAME, file: FILE, path: PATH, lines: new Uint8Array(0) };

describe('the batches of Amazon Bedrock', () => {
  it('take requests to Converse of one model, a hundred at least, through a bucket', () => {
    const paths = [PATH, '/model/m/converse-stream', '/model/m/invoke', '/messages'];
    expect(paths.map(dialect.takes)).toEqual([true, false, false, false]);
    expect([dialect.linesMin, dialect.needsPlace]).toEqual([100, true]);
  });

  it('put the lines into the bucket under our name, each under its number', async () => {
    const request = jsonBody(PATH, 'application/json', { messages: [] });
    const lines = [0, 49_999].map((number) => dialect.line(number, request, NAME));
    const to = calls([], PLACE);
    expect(await dialect.upload(to, lines, NAME)).toBe(FILE);
    expect(to.sent).toMatchObject([{ method: 'PUT', path: `/batch-objects/${FILE}` }]);
    expect(textOf(to.sent[0])).toBe(
      '{"recordId":"LINE0000000","modelInput":{"messages":[]}}\n' +
        '{"recordId":"LINE0049999","modelInput":{"messages":[]}}\n',
    );
    expect(to.sent[0].byteLength).toBe(textOf(to.sent[0]).length);
  });

  it('BAT-04 begin a job with a token of its own, so that a repeat begins no other', async () => {
    const to = calls([{ jobArn: ARN }], PLACE);
    expect(await dialect.create(to, NEW)).toBe(ARN);
    expect(to.sent[0].path).toBe('/model-invocation-job');
    expect(JSON.parse(textOf(to.sent[0]))).toEqual({
      jobName: JOB,
      clientRequestToken: JOB,
      roleArn: PLACE.roleArn,
      modelId: 'global.anthropic.claude-haiku-4-5-20251001-v1:0',
      modelInvocationType: 'Converse',
      inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: `s3://lines/${FILE}` } },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://lines/batches/${JOB}/answers/` } },
      timeoutDurationInHours: 24,
    });
  });

  it('are found by their name on whichever page, and by no other that contains it', async () => {
    const pages = calls([
      { invocationJobSummaries: [{ jobName: `${JOB}-2`, jobArn: 'other' }], nextToken: 'p 2' },
      { invocationJobSummaries: [{ jobName: JOB, jobArn: ARN }], nextToken: 'p3' },
    ]);
    const sought = { name: NAME, file: FILE, count: 100, sinceSeconds: 0 };
    expect(await dialect.find(pages, sought)).toEqual([ARN]);
    const query = `/model-invocation-jobs?nameContains=${JOB}&maxResults=100`;
    expect(pages.sent.map(({ path }) => path)).toEqual([query, `${query}&nextToken=p%202`]);
    expect(await dialect.find(calls([{}]), sought)).toEqual([]);
  });

  it('name where the answers are once they have ended, in whichever way', async () => {
    for (const status of ['Submitted', 'Validating', 'Scheduled', 'InProgress', 'Stopping'])
      expect(await dialect.look(calls([{ status, jobName: JOB }]), ARN)).toBeNull();
    for (const status of ['Completed', 'PartiallyCompleted', 'Failed', 'Stopped', 'Expired']) {
      const to = calls([{ status, jobName: JOB }]);
      expect(await dialect.look(to, ARN)).toMatchObject([
        { method: 'GET', path: `/batch-objects/batches/${JOB}/answers/abcdef123456/lines.jsonl.out` },
      ]);
      expect(to.sent[0].path).toBe(`/model-invocation-job/${encodeURIComponent(ARN)}`);
    }
  });

  it('call no address that an answer makes up', async () => {
    for (const jobArn of ['../x', `${ARN}/../..`, `${ARN}?x`, '', 'arn:aws:s3:::bucket'])
      await expect(dialect.create(calls([{ jobArn }], PLACE), NEW)).rejects.toThrow();
    for (const jobName of ['../../other', 'job-of-others', undefined]) {
      const uri = { s3OutputDataConfig: { s3Uri: 's3://of-others/x' } };
      const job = { status: 'Completed', jobName, outputDataConfig: uri };
      await expect(dialect.look(calls([job]), ARN)).rejects.toThrow('no name of ours');
    }
  });

  it('stop what runs, and leave what has ended or stops', async () => {
    const running = calls([{ status: 'InProgress' }]);
    await dialect.cancel(running, ARN);
    const path = `/model-invocation-job/${encodeURIComponent(ARN)}`;
    expect(running.sent.map((sent) => sent.path)).toEqual([path, `${path}/stop`]);
    for (const status of ['Stopping', 'Stopped', 'Completed']) {
      const ended = calls([{ status }]);
      await dialect.cancel(ended, ARN);
      expect(ended.sent).toHaveLength(1);
    }
  });

  it('BAT-04 read answers and failures of lines, and take nothing else for one', () => {
    const answer = (value: unknown): unknown => dialect.answer(JSON.stringify(value), NAME);
    const modelOutput = { output: { message: { role: 'assistant', content: [] } } };
    expect(answer({ recordId: 'LINE0000003', modelInput: {}, modelOutput })).toEqual({
      ...{ line: 3, status: 200, body: JSON.stringify(modelOutput) },
    });
    const codes = [400, 429, 503, 200, 0, 'x', 600];
    const failed = codes.map((errorCode) =>
      answer({ recordId: 'LINE0000003', error: { errorCode, errorMessage: 'no' } }),
    ) as { status: number; body: string }[];
    expect(failed.map(({ status }) => status)).toEqual([400, 429, 503, 500, 500, 500, 500]);
    expect(failed[0].body).toBe('{"message":"no"}');
    const none: Json[] = [
      { recordId: '3', modelOutput },
      { recordId: 'LINE3', modelOutput },
      { recordId: 'LINE00000031', modelOutput },
      { recordId: 'XLINE0000003', modelOutput },
      { recordId: 3, modelOutput },
      { recordId: 'LINE0000003' },
      { recordId: 'LINE0000003', modelOutput: 'text' },
      { modelOutput },
    ];
    expect(none.map(answer)).toEqual(none.map(() => null));
    expect(dialect.answer('{"recordId":"LINE0000003","modelOut', NAME)).toBeNull();
  });
});
