import type { ReactNode } from 'react';
import { Card } from './card.js';
import { SignInForm } from './sign-in-form.js';

/** Stands in place of any page of the dashboard while nobody is signed in: its URL stays. */
export function SignInPage(): ReactNode {
  return (
    <Card title="Sign in" about="Keys, usage, limits and spend of your models.">
      <SignInForm />
    </Card>
  );
}
