import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { Card } from './card.js';
import { FormProblem } from './form-problem.js';
import { linkToken } from './link-token.js';
import { useAcceptInvitation, useForgotPassword, useResetPassword } from './sign-in.queries.js';

export function ForgotPage(): ReactNode {
  const [email, setEmail] = useState('');
  const forgot = useForgotPassword();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    forgot.mutate({ email });
  };
  return (
    <Card title="Forgot the password" about="A link to choose a new one comes by mail." back>
      {forgot.isSuccess ? (
        <Text role="status">If {email} has an account, the mail is on its way.</Text>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label="Email"
              type="email"
              autoComplete="username"
              required
              value={email}
              onChange={({ currentTarget }) => setEmail(currentTarget.value)}
            />
            {forgot.error !== null && <FormProblem text={forgot.error.message} />}
            <Button type="submit" loading={forgot.isPending}>
              Send the link
            </Button>
          </Stack>
        </form>
      )}
    </Card>
  );
}

export function ResetPage(): ReactNode {
  const [token] = useState(linkToken);
  const reset = useResetPassword();
  return (
    <Card title="Choose a new password" back>
      {reset.isSuccess ? (
        <Text role="status">The password is changed. Sign in with it.</Text>
      ) : (
        <PasswordForm
          token={token}
          action="Change the password"
          problem={reset.error}
          isPending={reset.isPending}
          submit={({ password }) => reset.mutate({ token: token ?? '', password })}
        />
      )}
    </Card>
  );
}

export function InvitePage(): ReactNode {
  const [token] = useState(linkToken);
  const navigate = useNavigate();
  const accept = useAcceptInvitation();
  return (
    <Card title="Join the organization" about="Who has an account already gives its password." back>
      <PasswordForm
        token={token}
        asksName
        action="Join"
        problem={accept.error}
        isPending={accept.isPending}
        submit={(sent) =>
          accept.mutate({ token: token ?? '', ...sent }, { onSuccess: () => void navigate({ to: '/' }) })
        }
      />
    </Card>
  );
}

interface PasswordFormProps {
  token: string | null;
  asksName?: boolean;
  action: string;
  problem: Problem | null;
  isPending: boolean;
  submit: (sent: { name: string; password: string }) => void;
}

function PasswordForm({ token, asksName, action, problem, isPending, submit }: PasswordFormProps): ReactNode {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  if (token === null) return <FormProblem text="This link is incomplete: open it from the mail again." />;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    submit({ name, password });
  };
  return (
    <form onSubmit={send}>
      <Stack>
        {asksName && (
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            value={name}
            error={problem?.fields.name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
        <PasswordInput
          label="Password"
          autoComplete="new-password"
          required
          value={password}
          error={problem?.fields.password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        {problem !== null && <FormProblem text={problem.message} />}
        <Button type="submit" loading={isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}
