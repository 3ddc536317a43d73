/** The sources that `--lib` mutates, and the specs that should notice. */
export interface MutatedLib {
  sources: readonly string[];
  specs: readonly string[];
}

function lib(name: string): MutatedLib {
  return { sources: [`libs/${name}/src/**/*.ts`], specs: [`libs/${name}/src/**/*.spec.ts`] };
}

export const LIBS: Readonly<Record<string, MutatedLib>> = {
  money: lib('money'),
  limits: lib('limits'),
  routing: lib('routing'),
  journal: lib('journal'),
  dialects: lib('dialects'),
  providers: lib('providers'),
  breakers: {
    sources: ['libs/upstream/src/breakers.ts', 'libs/routing/src/run-attempts.ts'],
    specs: ['libs/upstream/src/breakers.spec.ts', 'libs/routing/src/*.spec.ts'],
  },
  signatures: {
    sources: [
      'libs/providers/src/amazon-bedrock/sign.ts',
      'libs/sealing/src/*.ts',
      'libs/services/notifications/src/deliveries/signature.ts',
      'libs/services/usage/src/payments/stripe-signature.ts',
      'libs/object-store/src/folder-links.ts',
    ],
    specs: [
      'libs/providers/src/amazon-bedrock/*.spec.ts',
      'libs/sealing/src/*.spec.ts',
      'libs/services/notifications/src/deliveries/*.spec.ts',
      'libs/services/usage/src/payments/stripe-*.spec.ts',
      'libs/object-store/src/folder-links.spec.ts',
    ],
  },
};

/** Files that are not code of the product: specs and their fixtures, and generated ones. */
export const LEFT_ALONE = /\.(spec|fixture|generated)\.ts$|\/index\.ts$/;
