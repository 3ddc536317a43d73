import type { UnitUsage } from '@gateway/contracts';
import fc from 'fast-check';
import { BodyFault, parseBody } from '@gateway/json-body';
import { EMBEDDINGS_DIALECTS } from '../families.generated.js';
import type { AnswerFacts, RouteTarget } from '../translation/translation.js';
import type { EmbeddingsDialect, EmbeddingsRequest } from './embeddings-dialect.js';

const facts: AnswerFacts = {
  requestId: 'req_1',
  model: 'acme/embed',
  created: 1,
  now: () => 1_000,
  answerId: () => 'embd_1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  believed: (reported: UnitUsage) => reported,
};
const target = (upstreamModel: string): RouteTarget => ({
  dialect: '',
  upstreamModel,
  maxOutputTokens: null,
  contextLength: 8_192,
  reasoning: { style: 'none' },
  fixesSampling: false,
  quirks: {},
});

function asked(body: Record<string, unknown>): EmbeddingsRequest {
  const parsed = parseBody(Buffer.from(JSON.stringify(body)));
  if (parsed instanceof BodyFault) throw new Error(parsed.detail.msg);
  const { input, dimensions, encoding_format: format } = parsed.value;
  return {
    inputs: (Array.isArray(input) ? input : [input]) as EmbeddingsRequest['inputs'],
    format: format === 'base64' ? 'base64' : 'float',
    dimensions: typeof dimensions === 'number' ? dimensions : null,
    body: parsed,
  };
}

function dialectOf(name: string): EmbeddingsDialect {
  const found = EMBEDDINGS_DIALECTS.get(name);
  if (!found) throw new Error(`no dialect ${name}`);
  return found;
}

const V1 = [0.5, -1];
const V2 = [0.25, 2];
/** Two texts for a query, 4 numbers long: what is sent, and an answer. */
const ROWS: [
  name: string,
  model: string,
  path: string,
  body: object,
  answer: object,
  tokens: number | null,
][] = [
  [
    'gemini-embeddings',
    'gemini-embedding-2',
    '/models/gemini-embedding-2:batchEmbedContents',
    {
      requests: ['a', 'b'].map((text) => ({
        model: 'models/gemini-embedding-2',
        content: { parts: [{ text }] },
        taskType: 'RETRIEVAL_QUERY',
        outputDimensionality: 4,
      })),
    },
    { embeddings: [{ values: V1 }, { values: V2 }], usageMetadata: { promptTokenCount: 7 } },
    7,
  ],
  [
    'vertex-embeddings',
    'text-embedding-005',
    '/models/text-embedding-005:predict',
    {
      instances: ['a', 'b'].map((content) => ({ content, task_type: 'RETRIEVAL_QUERY' })),
      parameters: { outputDimensionality: 4 },
    },
    {
      predictions: [V1, V2].map((values) => ({ embeddings: { values, statistics: { token_count: 3 } } })),
    },
    6,
  ],
  [
    'cohere-embeddings',
    'embed-v4.0',
    '/embed',
    {
      model: 'embed-v4.0',
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 4,
    },
    { embeddings: { float: [V1, V2] }, meta: { billed_units: { input_tokens: 5 } } },
    5,
  ],
  [
    'bedrock-cohere-embeddings',
    'cohere.embed-v4:0',
    '/model/cohere.embed-v4%3A0/invoke',
    { texts: ['a', 'b'], input_type: 'search_query', embedding_types: ['float'], output_dimension: 4 },
    { embeddings: { float: [V1, V2] } },
    null,
  ],
  [
    'ollama-embeddings',
    'nomic',
    '/api/embed',
    { model: 'nomic', input: ['a', 'b'], dimensions: 4 },
    { embeddings: [V1, V2] },
    null,
  ],
];

describe.each(ROWS)('embeddings in %s', (name, model, path, body, answer, tokens) => {
  const request = { input: ['a', 'b'], input_type: 'query', dimensions: 4 };

  it('are asked for in the provider’s own words', () => {
    const dialect = dialectOf(name);
    expect(dialect.unsupported(asked(request), target(model))).toBeNull();
    const sent = dialect.encode(asked(request), target(model));
    expect(sent.path).toBe(path);
    expect(JSON.parse(Buffer.concat(sent.pieces).toString('utf8'))).toEqual(body);
  });

  it('are answered as OpenAI’s list, in numbers or base64, with the counts that were reported', () => {
    const bytes = Buffer.from(JSON.stringify(answer));
    const piece = dialectOf(name).decode(bytes, asked(request), facts);
    expect(piece).toMatchObject({ kind: 'end' });
    expect(piece.usage?.prompt_tokens ?? null).toBe(tokens);
    expect(JSON.parse(String(piece.out))).toMatchObject({
      object: 'list',
      model: 'acme/embed',
      data: [
        { object: 'embedding', index: 0, embedding: V1 },
        { object: 'embedding', index: 1, embedding: V2 },
      ],
      usage: { prompt_tokens: tokens ?? 0, total_tokens: tokens ?? 0 },
    });
    const coded = dialectOf(name).decode(bytes, asked({ ...request, encoding_format: 'base64' }), facts);
    const { data } = JSON.parse(String(coded.out)) as { data: { embedding: string }[] };
    expect(Buffer.from(data[0].embedding, 'base64').readFloatLE(4)).toBe(-1);
  });

  it('A5 are estimated where a count of 0 is reported: no input has no tokens', () => {
    const text = JSON.stringify(answer).replace(/(promptTokenCount|token_count|input_tokens)":\d+/g, '$1":0');
    const piece = dialectOf(name).decode(Buffer.from(text), asked(request), facts);
    expect([piece.kind, piece.usage]).toEqual(['end', undefined]);
  });

  it('are a failure where a vector is missing, and token ids are for another provider', () => {
    const one = asked({ input: ['a', 'b', 'c'] });
    expect(dialectOf(name).decode(Buffer.from(JSON.stringify(answer)), one, facts).kind).toBe('failure');
    expect(dialectOf(name).unsupported(asked({ input: [[1, 2]] }), target(model))).toBe('input');
  });
});

/** One text a call, for a query, 4 numbers long. */
const SINGLE: [
  name: string,
  model: string,
  path: string,
  body: object,
  answer: object,
  tokens: number | null,
][] = [
  [
    'nova-embeddings',
    'amazon.nova-2-multimodal-embeddings-v1:0',
    '/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke',
    {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'TEXT_RETRIEVAL',
        embeddingDimension: 4,
        text: { value: 'a', truncationMode: 'NONE' },
      },
    },
    { embeddings: [{ embeddingType: 'TEXT', embedding: V1 }] },
    null,
  ],
  [
    'vertex-embeddings',
    'gemini-embedding-2',
    '/models/gemini-embedding-2:embedContent',
    { content: { parts: [{ text: 'a' }] }, taskType: 'RETRIEVAL_QUERY', outputDimensionality: 4 },
    { embedding: { values: V1 }, usageMetadata: { promptTokenCount: 3 } },
    3,
  ],
];

describe.each(SINGLE)('one text in %s', (name, model, path, body, answer, tokens) => {
  it('is asked for and answered, and two are not', () => {
    const dialect = dialectOf(name);
    const request = asked({ input: 'a', input_type: 'query', dimensions: 4 });
    expect(dialect.unsupported(asked({ input: ['a', 'b'] }), target(model))).toBe('input');
    expect(dialect.unsupported(request, target(model))).toBeNull();
    const sent = dialect.encode(request, target(model));
    expect(sent.path).toBe(path);
    expect(JSON.parse(Buffer.concat(sent.pieces).toString('utf8'))).toEqual(body);
    const piece = dialect.decode(Buffer.from(JSON.stringify(answer)), request, facts);
    expect(piece.usage?.prompt_tokens ?? null).toBe(tokens);
    expect(JSON.parse(String(piece.out))).toMatchObject({ data: [{ index: 0, embedding: V1 }] });
  });
});

describe('tokens that Bedrock counts in a header', () => {
  const headers = { 'x-amzn-bedrock-input-token-count': '7' };
  const head = { status: 200, contentType: 'application/json', headers };
  it.each([
    ['bedrock-cohere-embeddings', { embeddings: { float: [V1] } }],
    ['nova-embeddings', { embeddings: [{ embedding: V1 }] }],
  ])('EMB-02 are those of %s, and no estimate', (name, answer) => {
    const bytes = Buffer.from(JSON.stringify(answer));
    const piece = dialectOf(name).decode(bytes, asked({ input: 'a' }), facts, head);
    expect(piece.usage).toEqual({ prompt_tokens: 7, completion_tokens: 0 });
    expect(JSON.parse(String(piece.out))).toMatchObject({ usage: { prompt_tokens: 7, total_tokens: 7 } });
    for (const count of ['', '-1', '1.5', 'x', undefined]) {
      const odd = { ...head, headers: count === undefined ? {} : { [Object.keys(headers)[0]]: count } };
      expect(dialectOf(name).decode(bytes, asked({ input: 'a' }), facts, odd).usage).toBeUndefined();
    }
  });
});

describe('Cohere on Bedrock', () => {
  it('answers a bare list in its third version, which has one length', () => {
    const cohere = dialectOf('bedrock-cohere-embeddings');
    const request = asked({ input: 'a', dimensions: 256 });
    expect(cohere.unsupported(request, target('cohere.embed-english-v3'))).toBe('dimensions');
    const { out } = cohere.decode(Buffer.from(JSON.stringify({ embeddings: [V1] })), request, facts);
    expect(JSON.parse(String(out))).toMatchObject({ data: [{ embedding: V1 }] });
  });
});

describe('Perplexity', () => {
  it('answers vectors of bytes, which are shown as numbers', () => {
    const perplexity = dialectOf('perplexity-embeddings');
    const request = asked({ input: ['a'], dimensions: 256 });
    const sent = perplexity.encode(request, target('pplx-embed-v1-0.6b'));
    expect(JSON.parse(Buffer.concat(sent.pieces).toString('utf8'))).toEqual({
      model: 'pplx-embed-v1-0.6b',
      input: ['a'],
      encoding_format: 'base64_int8',
      dimensions: 256,
    });
    const embedding = Buffer.from([1, 255, 128]).toString('base64');
    const bytes = Buffer.from(JSON.stringify({ data: [{ embedding }], usage: { prompt_tokens: 2 } }));
    const piece = perplexity.decode(bytes, request, facts);
    expect(piece.usage).toEqual({ prompt_tokens: 2, completion_tokens: 0 });
    expect(JSON.parse(String(piece.out))).toMatchObject({ data: [{ embedding: [1, -1, -128] }] });
  });
});

describe('Titan', () => {
  it('takes one text a call, and a length from its second version on', () => {
    const titan = dialectOf('titan-embeddings');
    const v2 = target('amazon.titan-embed-text-v2:0');
    const request = asked({ input: 'a', dimensions: 256 });
    expect(titan.unsupported(asked({ input: ['a', 'b'] }), v2)).toBe('input');
    expect(titan.unsupported(request, target('amazon.titan-embed-text-v1'))).toBe('dimensions');
    const sent = titan.encode(request, v2);
    expect(sent.path).toBe('/model/amazon.titan-embed-text-v2%3A0/invoke');
    expect(JSON.parse(Buffer.concat(sent.pieces).toString('utf8'))).toEqual({
      inputText: 'a',
      dimensions: 256,
    });
    const answer = Buffer.from(JSON.stringify({ embedding: V1, inputTextTokenCount: 2 }));
    expect(titan.decode(answer, request, facts).usage).toEqual({ prompt_tokens: 2, completion_tokens: 0 });
  });
});

describe.each([...EMBEDDINGS_DIALECTS.keys()])('an answer in %s', (name) => {
  it('ends in one end or failure, whatever bytes come', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const { kind } = dialectOf(name).decode(Buffer.from(text), asked({ input: 'a' }), facts);
        expect(['end', 'failure']).toContain(kind);
      }),
    );
  });
});
