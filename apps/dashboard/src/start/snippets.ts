/** The first request in the languages that people begin with; a model that costs next to nothing and always answers. */
const FIRST_MODEL = 'simulator/chat';

export interface Snippet {
  name: string;
  code: string;
}

export function snippets(origin: string, key: string): Snippet[] {
  const body = JSON.stringify({ model: FIRST_MODEL, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    {
      name: 'curl',
      code: [
        `curl ${origin}/v1/chat/completions \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '${body}'`,
      ].join('\n'),
    },
    {
      name: 'Python',
      code: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${origin}/v1", api_key="${key}")`,
        'answer = client.chat.completions.create(',
        `    model="${FIRST_MODEL}",`,
        '    messages=[{"role": "user", "content": "Hello"}],',
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n'),
    },
    {
      name: 'TypeScript',
      code: [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' });`,
        'const answer = await client.chat.completions.create({',
        `  model: '${FIRST_MODEL}',`,
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '});',
        'console.log(answer.choices[0].message.content);',
      ].join('\n'),
    },
  ];
}
