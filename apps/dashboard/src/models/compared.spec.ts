import { comparedIds, flagsOf, toggled } from './compared.js';

describe('models to compare', () => {
  it('are the first four of a URL, each once, and only ids', () => {
    expect(comparedIds('a/1,b/2,a/1,c,d/3,,e/4,f/5')).toEqual(['a/1', 'b/2', 'd/3', 'e/4']);
    expect(comparedIds(undefined)).toEqual([]);
  });

  it('come and go one by one, and a fifth does not come', () => {
    expect(toggled(['a/1'], 'b/2')).toEqual(['a/1', 'b/2']);
    expect(toggled(['a/1', 'b/2'], 'a/1')).toEqual(['b/2']);
    expect(toggled(['a/1', 'b/2', 'c/3', 'd/4'], 'e/5')).toEqual(['a/1', 'b/2', 'c/3', 'd/4']);
  });

  it('can what their flags say', () => {
    expect(
      flagsOf({ id: 'a/1', supports_tools: true, supports_json_mode: true, supports_seed: false }),
    ).toEqual(['tools', 'json mode']);
  });
});
