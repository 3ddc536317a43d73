import { ApiError, CatalogueReader } from '@gateway/contracts';
import { startEdge, type EdgeUnderTest } from './edge.fixture.js';

describe('readiness of the edge', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => (edge = await startEdge()));
  afterAll(() => edge.close());

  const ready = async (): Promise<number> => (await fetch(`${edge.url}/readyz`)).status;

  it('comes with the first catalogue, because before it every inference is 503', async () => {
    const catalogue = edge.app.app.get(CatalogueReader);
    const { snapshot } = catalogue;
    catalogue.snapshot = () => {
      throw new ApiError('service_unavailable');
    };
    expect(await ready()).toBe(503);
    catalogue.snapshot = snapshot;
    expect(await ready()).toBe(200);
  });
});
