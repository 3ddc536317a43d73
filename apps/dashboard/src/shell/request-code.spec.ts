import fc from 'fast-check';
import { requestCode } from './request-code.js';

const chat = { endpoint: '/v1/chat/completions', model: 'acme/swift', requested_model: null };
const codeOf = (logged?: unknown) => requestCode('https://gateway.example', chat, logged)!;

describe('a request as code', () => {
  it('asks for the model by the name that the caller used, with a placeholder where the body is not known', () => {
    const { curl, typescript } = requestCode('https://gateway.example', {
      ...chat,
      requested_model: 'swift',
    })!;
    expect(curl).toContain('curl https://gateway.example/v1/chat/completions');
    expect(curl).toContain('"model": "swift"');
    expect(typescript).toContain('"content": "…"');
    expect(`${curl}${typescript}`).not.toContain('rsk_');
  });

  it('is none for a body that is no JSON', () => {
    expect(requestCode('', { ...chat, endpoint: '/v1/audio/transcriptions' })).toBeNull();
  });

  it('has the logged body to the character, whatever quotes it holds', () => {
    const body = {
      model: 'acme/swift',
      stop: null,
      stream: true,
      messages: [{ role: 'user', content: `It's "so"\n` }],
    };
    const { curl, python, typescript } = codeOf(body);
    // A stream is written as it comes.
    expect(curl).toMatch(/^curl -N https/);
    const sent = curl.slice(curl.indexOf("-d '") + 4, -1).replaceAll("'\\''", "'");
    expect(JSON.parse(sent)).toEqual(body);
    const inTypeScript = /JSON\.stringify\((.*)\),\n\}\);/s.exec(typescript)?.[1] ?? '';
    expect(JSON.parse(inTypeScript)).toEqual(body);
    expect(python).toContain(`"stop": None, "stream": True`);
    expect(python).toContain('"content": "It\'s \\"so\\"\\n"');
  });

  it('a shell reads the body of curl as it was, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (content) => {
        const { curl } = codeOf({ content });
        const quoted = curl.slice(curl.indexOf("-d '") + 4, -1);
        // Only the quote that is closed, escaped and opened again may stand in it.
        expect(quoted.split("'\\''").join('')).not.toContain("'");
        expect(JSON.parse(quoted.split("'\\''").join("'"))).toEqual({ content });
      }),
    );
  });
});
