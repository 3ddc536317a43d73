import { hello } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'forced_tool');

describe('a forced tool', () => {
  it.each([false, true])('bug 15: takes no reasoning out of the answer, stream %s', async (stream) => {
    const model = edge.serve('acme/thinks', 'sim-chat:think=Let%20me%20think;reasoning=7;tools=1');
    const tools = [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }];
    const tool_choice = { type: 'function', function: { name: 'now' } };
    const answer = await edge.post(hello(model, { tools, tool_choice, stream }));
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.stringContaining('"tool_calls"')]);
    const reasoning = [...text.matchAll(/"reasoning":"([^"]*)"/g)].map(([, piece]) => piece).join('');
    expect(reasoning).toContain('Let me think');
  });
});
