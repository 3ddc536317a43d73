import { DeploymentNames, DEPLOYMENTS_MAX, readDeploymentList } from './deployment-names.js';

const entry = (id: unknown, model: unknown, more: object = {}) => ({
  object: 'deployment',
  id,
  model,
  ...more,
});
const listOf = (...data: unknown[]) => readDeploymentList({ object: 'list', data });

describe('a resource’s own list of deployments', () => {
  it('completes what is written, which wins', () => {
    const names = new DeploymentNames({ 'gpt-5.4': 'ours' });
    expect([names.of('gpt-5.4'), names.of('gpt-5.5'), names.isMissing('gpt-5.5')]).toEqual([
      'ours',
      undefined,
      false,
    ]);
    names.list = listOf(entry('theirs', 'gpt-5.4'), entry('team', 'gpt-5.5'));
    expect(['gpt-5.4', 'gpt-5.5', 'gpt-6'].map((model) => names.of(model))).toEqual([
      'ours',
      'team',
      undefined,
    ]);
    expect(['gpt-5.4', 'gpt-5.5', 'gpt-6'].map((model) => names.isMissing(model))).toEqual([
      false,
      false,
      true,
    ]);
    expect(names.at({ m: 'd' }).of('gpt-5.5')).toBeUndefined();
    expect([names.at(null).of('gpt-5.4'), names.at({}).of('gpt-5.4')]).toEqual(['ours', undefined]);
  });

  it('finds a model however Azure writes it', () => {
    const names = new DeploymentNames();
    names.list = listOf(entry('a', 'DeepSeek-V3.2'), entry('b', 'Mistral-Medium-3.5'));
    expect([names.of('deepseek-v3.2'), names.of('mistral-medium-3-5')]).toEqual(['a', 'b']);
  });

  it.each([
    [['z', 'a', 'm'], 'a'],
    [['z', 'gpt-5.4', 'a'], 'gpt-5.4'],
    [['a', 'GPT-5.4', 'gpt-5.4'], 'GPT-5.4'],
  ])('has the same of several deployments %j of a model in any order', (ids, name) => {
    for (const order of [ids, [...ids].reverse()])
      expect(listOf(...order.map((id) => entry(id, 'gpt-5.4')))?.names.get('gpt-5-4')).toBe(name);
  });

  it('leaves out one that is not ready', () => {
    const found = listOf(entry('a', 'gpt', { status: 'running' }), entry('b', 'o', { status: 'succeeded' }));
    expect(found).toEqual({ names: new Map([['o', 'b']]), isWhole: true, hasClaude: false });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'deployments'],
    ['an error', { error: { code: '404' } }],
    ['no list', { object: 'list', data: { length: 1 } }],
    ['a list of models', { object: 'list', data: [{ id: 'gpt-5.4', object: 'model' }] }],
    ['a list of another form', { data: [] }],
    ['entries that are none', { object: 'list', data: [null, 1, 'a', [], entry(1, 2)] }],
  ])('is none where the answer is %s', (_what, body) => {
    expect(readDeploymentList(body)).toBeNull();
  });

  it.each<[string, unknown]>([
    ['a name that is a path', entry('../../models', 'gpt-5.5')],
    ['a name with a line break', entry('a\r\nX-Evil: 1', 'gpt-5.5')],
    ['a name without end', entry('a'.repeat(65), 'gpt-5.5')],
    ['a model without end', entry('a', 'm'.repeat(201))],
    ['a model that is an object', entry('a', { toString: 'gpt' })],
  ])('calls nothing by %s, and no model is missing beside it', (_what, one) => {
    const found = listOf(one, entry('team', 'gpt-5.4'));
    expect(found).toEqual({ names: new Map([['gpt-5-4', 'team']]), isWhole: false, hasClaude: false });
  });

  it('keeps a bounded number of names, and no model is missing where it has more', () => {
    const many = Array.from({ length: DEPLOYMENTS_MAX + 1 }, (_, n) => entry(`d${n}`, `m${n}`));
    const found = listOf(...many);
    expect([found?.names.size, found?.isWhole]).toEqual([DEPLOYMENTS_MAX, false]);
    const paged = readDeploymentList({ object: 'list', data: many.slice(0, 1), nextLink: 'https://x' });
    expect(paged?.isWhole).toBe(false);
  });

  it('ROUTE-06 says nothing of Claude where it names none, and of every Claude where it names one', () => {
    const names = new DeploymentNames({ 'claude-opus-5': 'ours' });
    names.list = listOf(entry('team', 'gpt-5.4'));
    const models = ['claude-opus-5', 'claude-sonnet-5', 'gpt-6'];
    expect(models.map((model) => names.isMissing(model))).toEqual([false, false, true]);
    names.list = listOf(entry('team', 'gpt-5.4'), entry('writer', 'Claude-Haiku-5'));
    expect(models.map((model) => names.isMissing(model))).toEqual([false, true, true]);
    expect(names.of('claude-haiku-5')).toBe('writer');
  });

  it('is no way to the members of objects', () => {
    const names = new DeploymentNames();
    names.list = listOf(entry('a', '__proto__'));
    expect([names.of('constructor'), names.of('__proto__'), names.isMissing('toString')]).toEqual([
      undefined,
      'a',
      true,
    ]);
  });
});
