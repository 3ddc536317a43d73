import { Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SignInForm } from './sign-in-form.js';

/** The kit's dialogs and menus are below 400; one of the page may be open, and is later in the document. */
const ABOVE_DIALOGS = 500;

/** Sign-in above the page whose session has ended. */
export function SessionEnded({ email }: { email: string }): ReactNode {
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      zIndex={ABOVE_DIALOGS}
    >
      <Text size="sm" c="dimmed" mb="md">
        Sign in again. What you typed is still there.
      </Text>
      <SignInForm email={email} />
    </Modal>
  );
}
