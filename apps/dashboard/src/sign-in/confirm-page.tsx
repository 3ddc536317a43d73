import { Button, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { isUndecided, type Problem } from '../api/problem.js';
import { Card } from './card.js';
import { FormProblem } from './form-problem.js';
import { linkToken } from './link-token.js';
import { useConfirmAddress } from './sign-in.queries.js';

/**
 * Page behind the link of a confirmation mail, whose holder needs no session. It asks first, because scanners of mail
 * open links.
 */
export function ConfirmPage(): ReactNode {
  const [token] = useState(linkToken);
  const confirm = useConfirmAddress();
  if (confirm.isSuccess)
    return (
      <Card title="The address is confirmed" back>
        <Text role="status" size="sm">
          Notices will be sent to it from now on.
        </Text>
      </Card>
    );
  const isDead = confirm.error !== null && !isUndecided(confirm.error);
  return (
    <Card
      title={isDead ? 'This link no longer works' : 'Confirm this address'}
      about={isDead ? undefined : 'Notices of a Model Gateway organization will be sent to it.'}
      back
    >
      <Stack>
        {token === null && <FormProblem text="This link is incomplete: open it from the mail again." />}
        {confirm.error !== null && <FormProblem text={reasonOf(confirm.error)} />}
        {token !== null && !isDead && (
          <Button loading={confirm.isPending} onClick={() => confirm.mutate(token)}>
            Confirm
          </Button>
        )}
      </Stack>
    </Card>
  );
}

/** Returns the reason that the gateway names for a used, replaced, old or unknown link; for others the message. */
function reasonOf({ fields, message, requestId }: Problem): string {
  return fields.token ?? (requestId === null ? message : `${message} Request ${requestId}.`);
}
