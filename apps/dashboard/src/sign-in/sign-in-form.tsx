import { Anchor, Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { FormProblem } from './form-problem.js';
import { useSignIn, useSignInOptions } from './sign-in.queries.js';

/** Chromium keeps a `__Host-` cookie on plain HTTP for these hosts only; elsewhere a session would end at a reload. */
function isSecurePlace(): boolean {
  return window.isSecureContext || ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);
}

/** `email` is fixed where a session that ended is continued. */
export function SignInForm({ email: known }: { email?: string }): ReactNode {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const options = useSignInOptions().data;
  const signIn = useSignIn();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate({ email, password });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {!isSecurePlace() && (
          <FormProblem text="Serve this over HTTPS: on plain HTTP the browser keeps no session, and every reload asks for the password again." />
        )}
        <TextInput
          label="Email"
          type="email"
          name="email"
          autoComplete="username"
          required
          readOnly={known !== undefined}
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        {signIn.error !== null && <FormProblem text={signIn.error.message} />}
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        {known === undefined && (
          <Anchor component={Link} to="/forgot" size="sm" ta="center">
            Forgot the password?
          </Anchor>
        )}
        {options?.oidc && (
          <>
            <Divider label="or" />
            <Button component="a" href="/auth/oidc/start" variant="default">
              Sign in with {options.oidc.name}
            </Button>
          </>
        )}
      </Stack>
    </form>
  );
}
