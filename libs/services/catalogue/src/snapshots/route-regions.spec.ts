import { readSeed } from '../seed/read-seed.js';
import { routeRegions } from './route-regions.js';

const REGIONS = ['us-east-1'];
const of = (upstream_model: string, provider = 'amazon-bedrock', regions: string[] = []): string[] =>
  routeRegions({ provider, upstream_model, regions }, REGIONS);

describe('issue 37 regions of a route', () => {
  it('are those of its provider', () => {
    expect(of('amazon.nova-pro-v1:0')).toEqual(REGIONS);
    expect(of('global.model', 'acme')).toEqual(REGIONS);
    expect(of('usher.model')).toEqual(REGIONS);
  });

  it.each(['global', 'us', 'us-gov', 'eu', 'apac', 'jp', 'au'])(
    'are not promised by %s, an inference profile of Bedrock across regions',
    (geography) => {
      expect(of(`${geography}.anthropic.claude-opus-5`)).toEqual([]);
    },
  );

  it('are its own where it has some', () => {
    expect(of('eu.anthropic.claude-opus-5', 'amazon-bedrock', ['eu'])).toEqual(['eu']);
    expect(of('model', 'acme', ['eu', 'ch'])).toEqual(['eu', 'ch']);
  });

  it('are promised by no route of the data whose name says that it crosses them', () => {
    const routes = readSeed({ simulated: false }).models.flatMap((model) => model.routes);
    const bedrock = routes.filter(({ provider }) => provider === 'amazon-bedrock');
    const [promised, across] = [true, false].map((is) =>
      bedrock.filter(
        (route) => routeRegions({ ...route, regions: route.regions ?? [] }, REGIONS).length > 0 === is,
      ),
    );
    const makers = new Set(promised.map(({ upstream_model: name }) => name.split('.')[0]));
    expect([...makers].filter((maker) => maker.length < 3 || maker === 'global')).toEqual([]);
    expect(across.length).toBeGreaterThan(30);
  });
});
