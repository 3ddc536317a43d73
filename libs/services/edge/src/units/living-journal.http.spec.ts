import { eventually } from '@gateway/testing';
import { hello, startEdge, type EdgeUnderTest } from '../edge.fixture.js';

describe('the journal of an edge', () => {
  const used = async (): Promise<EdgeUnderTest> => {
    const edge = await startEdge();
    await eventually(() => edge.funds.living.size === 1);
    expect((await edge.post(hello(edge.serve('acme/chat', 'sim-chat')))).status).toBe(200);
    return edge;
  };

  it('operations 2: is announced to the ledger while the edge lives, and has ended once it has drained', async () => {
    const edge = await used();
    await edge.close();
    expect([...edge.funds.living]).toEqual([]);
  });

  it('is missed where the ledger cannot be told of its end, which keeps no edge from ending', async () => {
    const edge = await used();
    edge.funds.isUnavailable = true;
    await edge.close();
    expect(edge.funds.living.size).toBe(1);
  });
});
