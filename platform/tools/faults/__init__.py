"""What is lost when processes are killed, disks fill up and messages go astray."""
