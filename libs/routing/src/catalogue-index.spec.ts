import { ApiError, type KeyPrincipal } from '@gateway/contracts';
import fc from 'fast-check';
import { visibleTo } from './model-access.js';
import { index, model, NOW, optionsFor, principal, route } from './plan.fixture.js';
import { planRoutes } from './plan.js';

const served = (id: string, provider: string, upstreamModel: string) =>
  model(id, [route(provider, '0', { upstreamModel })]);
const LOCAL = index(
  served('ollama/deepseek-r1-8b', 'ollama', 'deepseek-r1:8b'),
  served('ollama/llama3.2', 'ollama', 'llama3.2:latest'),
  served('vllm/meta-llama-llama-3.1-8b-instruct', 'vllm', 'meta-llama/Llama-3.1-8B-Instruct'),
  served('meta/llama-3.3-70b', 'groq', 'llama-3.3-70b-versatile'),
  served('one/same', 'one', 'x'),
  served('other/same', 'other', 'x'),
);
const everything = () => true;

function rejection(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the name of a model', () => {
  it.each([
    ['ollama/deepseek-r1:8b', 'ollama/deepseek-r1-8b'],
    ['deepseek-r1:8b', 'ollama/deepseek-r1-8b'],
    ['ollama/deepseek-r1-8b', 'ollama/deepseek-r1-8b'],
    ['deepseek-r1-8b', 'ollama/deepseek-r1-8b'],
    ['ollama/llama3.2:latest', 'ollama/llama3.2'],
    ['vllm/meta-llama/Llama-3.1-8B-Instruct', 'vllm/meta-llama-llama-3.1-8b-instruct'],
    ['meta-llama/Llama-3.1-8B-Instruct', 'vllm/meta-llama-llama-3.1-8b-instruct'],
  ])('C2 may be its server’s: %s is %s', (name, id) =>
    expect(LOCAL.model(name, everything).record.id).toBe(id),
  );

  it('C2 is not what a host of another maker’s model calls it: that would not choose the host', () =>
    expect(LOCAL.find('groq/llama-3.3-70b-versatile')).toBeNull());

  it('C2 is resolved before lists and limits: what the listed id is refused, its alias is', () => {
    const blocked = {
      ...principal,
      access: [{ allowed: null, blocked: ['ollama/deepseek-r1-8b'] }],
    } as KeyPrincipal;
    for (const name of ['ollama/deepseek-r1:8b', 'deepseek-r1:8b'])
      expect(
        rejection(() =>
          planRoutes({
            ...optionsFor(served('ollama/deepseek-r1-8b', 'ollama', 'deepseek-r1:8b'), {
              body: { model: name },
            }),
            principal: blocked,
          }),
        ),
      ).toMatch(/^403 model_excluded/);
  });

  it('C2 404 names the nearest ids', () => {
    expect(rejection(() => LOCAL.model('ollama/deepseek-r1:7b', everything))).toBe(
      '404 model_not_found The model ollama/deepseek-r1:7b is unknown, disabled or not permitted for the key. The nearest: ollama/deepseek-r1-8b.',
    );
    expect(rejection(() => LOCAL.model('lama-3.1-8b-instruct', everything))).toContain(
      'The nearest: vllm/meta-llama-llama-3.1-8b-instruct',
    );
    expect(rejection(() => LOCAL.model('zzz/qqq', everything))).not.toContain('nearest');
  });

  it('C2 404 names no id that the key may not call, of several brands and of near ones', () => {
    const visible = (allowed: string[]) =>
      visibleTo({ access: [{ allowed, blocked: null }], fixedProvider: null } as never, NOW);
    const [some, both] = [visible(['vllm/*', 'one/*']), visible(['one/*', 'other/*'])];
    expect(rejection(() => LOCAL.model('ollama/deepseek-r1:7b', some))).not.toContain('deepseek-r1-8b');
    expect(rejection(() => LOCAL.model('same', some))).not.toContain('other/same');
    expect(rejection(() => LOCAL.model('same', both))).toBe(
      '404 model_not_found Several models have that name: one/same, other/same.',
    );
  });

  it('C2 404 of one that is there and not allowed reads like one that is not there', () => {
    const allowed = { access: [{ allowed: ['vllm/*'], blocked: null }], fixedProvider: null } as never;
    const isVisible = visibleTo(allowed, NOW);
    const without = index(served('vllm/meta-llama-llama-3.1-8b-instruct', 'vllm', 'm'));
    for (const name of ['ollama/llama3.2', 'meta/llama-3.3-70b'])
      expect(LOCAL.unknown(name, isVisible).message).toBe(without.unknown(name, isVisible).message);
  });

  it('C2 404 of a name of more than 100 characters names none', () => {
    const long = `vllm/${'a'.repeat(95)}`;
    const one = index(served(`${long.slice(0, -1)}b`, 'vllm', 'm'));
    expect(rejection(() => one.model(long, everything))).toContain('The nearest: ');
    expect(rejection(() => one.model(`${long}a`, everything))).not.toContain('nearest');
  });

  it('C2 404 names at most three, whatever is asked for', () => {
    const many = index(
      ...Array.from({ length: 50 }, (_, n) => served(`ollama/llama-${n}`, 'ollama', `m${n}`)),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (name) => {
        if (many.find(name) !== null) return;
        const found = many.unknown(name, everything).message.match(/ollama\/llama-\d+/g) ?? [];
        expect(found.filter((id) => id !== name).length).toBeLessThanOrEqual(3);
      }),
    );
  });
});
