import { startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { enabledProviders } from '../config/edge.config.js';
import { hello, startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { BEDROCK, CLAUDE, GEMINI, OURS, STREAMED, type Expected } from './cloud-errors.fixture.js';

let cloud: UpstreamDouble;
let edge: EdgeUnderTest;

beforeAll(async () => {
  cloud = await startUpstreamDouble();
  const enabled = enabledProviders({
    ...{ AWS_BEDROCK_BASE_URL: cloud.url, AWS_REGION: 'eu-west-1' },
    ...{ AWS_ACCESS_KEY_ID: 'AKIAOURSOURSOURS', AWS_SECRET_ACCESS_KEY: 'secret' },
    ...{ GOOGLE_VERTEX_BASE_URL: cloud.url, GOOGLE_VERTEX_API_KEY: 'ya29.a-token-of-ours-which-is-long' },
  });
  const slugs = ['amazon-bedrock', 'google-vertex'];
  const upstreams = Object.fromEntries(slugs.map((slug) => [slug, enabled.get(slug)!]));
  edge = await startEdge({ upstreams: () => Promise.resolve(upstreams) });
});
afterAll(async () => {
  await Promise.all([edge?.close(), cloud?.close()]);
});

let served = 0;

/** Serves a model of its own: failures of one route do not close that of another case. */
function modelOf(provider: string, dialect: string): string {
  const id = `acme/${(served += 1)}`;
  edge.serveModels(testModel(id, [{ provider, upstreamModel: `upstream-${served}`, dialect }]));
  return id;
}

const ON_THE_WAY = { 'x-amzn-requestid': 'id-of-the-cloud', 'x-goog-request-id': 'id-of-the-cloud' };

async function expectMapped(model: string, answer: ScriptedAnswer, expected: Expected): Promise<void> {
  cloud.answer = () => ({
    ...answer,
    headers: { ...ON_THE_WAY, ...('headers' in answer && answer.headers) },
  });
  for (const path of ['/v1/chat/completions', '/v1/messages'])
    for (const stream of 'body' in answer && answer.status === undefined ? [true] : [false, true]) {
      const said = await edge.post(hello(model, { stream }), { path });
      const text = await said.text();
      const { error } = JSON.parse(text) as { error: Json };
      expect([said.status, error.code, error.provider_code]).toEqual(expected);
      const shown = text + JSON.stringify([...said.headers]);
      expect(OURS.filter((own) => shown.includes(own))).toEqual([]);
    }
}

describe('an error of a cloud is what the table of errors says, and names nothing of the account', () => {
  it.each(BEDROCK)('ROUTE-06 Bedrock: %s', async (_what, answer, expected) => {
    await expectMapped(modelOf('amazon-bedrock', 'converse'), answer, expected);
  });

  it.each(GEMINI)('ROUTE-06 Gemini on Vertex AI: %s', async (_what, answer, expected) => {
    await expectMapped(modelOf('google-vertex', 'gemini'), answer, expected);
  });

  it.each(CLAUDE)('ROUTE-06 Claude on Vertex AI: %s', async (_what, answer, expected) => {
    await expectMapped(modelOf('google-vertex', 'messages'), answer, expected);
  });

  it.each(STREAMED)('ROUTE-06 in a stream: %s', async (_what, route, answer, expected) => {
    await expectMapped(modelOf(...route), answer, expected);
  });
});
