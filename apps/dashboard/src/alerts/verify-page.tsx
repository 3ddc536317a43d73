import { Alert, Button, Group, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { verdictOf, type SignedDelivery, type Verdict } from './signature.js';

const VERDICTS: Record<Verdict, { color: string; title: string; text: string }> = {
  valid: {
    color: 'green',
    title: 'The signature is valid',
    text: 'Its body came from this channel unchanged.',
  },
  late: {
    color: 'yellow',
    title: 'The signature is valid, but more than five minutes old',
    text: 'Its body came from this channel unchanged. A receiver refuses it for its age, so that nobody sends it again.',
  },
  invalid: {
    color: 'red',
    title: 'The signature is not valid',
    text: 'A byte of the body or the timestamp differs, or the secret is another one. Take the body before any parser.',
  },
  unreadable: {
    color: 'red',
    title: 'This is no signature',
    text: 'A signature is v1= and 64 hexadecimal digits; a timestamp is seconds since 1970.',
  },
};
const EMPTY: SignedDelivery = { secret: '', timestamp: '', signature: '', body: '' };

/** Judges a delivery in the browser: nothing that is pasted here leaves it. */
export default function VerifyPage(): ReactNode {
  const [delivery, setDelivery] = useState(EMPTY);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const change = (part: Partial<SignedDelivery>): void => {
    setDelivery({ ...delivery, ...part });
    setVerdict(null);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void verdictOf(delivery, Date.now()).then(setVerdict);
  };
  return (
    <>
      <PageHead
        title="Verify a signature"
        about="Paste what your receiver got. It is judged in this browser and sent nowhere."
      />
      <Panel>
        <form onSubmit={submit}>
          <Stack maw={760}>
            <PasswordInput
              label="Signing secret"
              placeholder="whsec_…"
              autoComplete="off"
              required
              value={delivery.secret}
              onChange={({ currentTarget }) => change({ secret: currentTarget.value })}
            />
            <TextInput
              label="Service-Webhook-Timestamp"
              inputMode="numeric"
              required
              value={delivery.timestamp}
              onChange={({ currentTarget }) => change({ timestamp: currentTarget.value })}
            />
            <TextInput
              label="Service-Webhook-Signature"
              placeholder="v1=…"
              required
              value={delivery.signature}
              onChange={({ currentTarget }) => change({ signature: currentTarget.value })}
            />
            <Textarea
              label="Body"
              description="To the byte, as it arrived"
              autosize
              minRows={4}
              maxRows={16}
              required
              value={delivery.body}
              onChange={({ currentTarget }) => change({ body: currentTarget.value })}
            />
            {window.isSecureContext || <NeedsHttps />}
            {verdict !== null && (
              <Alert color={VERDICTS[verdict].color} title={VERDICTS[verdict].title} role="status">
                {VERDICTS[verdict].text}
              </Alert>
            )}
            <Group justify="flex-end">
              <Button type="submit" disabled={!window.isSecureContext}>
                Verify
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
    </>
  );
}

function NeedsHttps(): ReactNode {
  return (
    <Alert color="yellow">
      A browser computes signatures on HTTPS, 127.0.0.1 and localhost only: serve the dashboard over HTTPS.
    </Alert>
  );
}
