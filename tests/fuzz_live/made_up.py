"""Messages that nobody meant: any message of the protocol with any fields, and bytes that are nearly one.

Values are taken from what has meaning somewhere (ids of jobs that there are, names of nodes, moments around now, the ends
of every range), because a value that means nothing is refused at the first look.
"""

import time

NUMBERS = [0, 1, 2, 3, 7, 9, 15, 60, 255, 1000, 4096, 65535, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1,
           (1 << 53), (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
TEXTS = [b"", b"debug", b"gpu", b"closed", b"n1", b"n3", b"n[1-4]", b"n[1-99999999]", b"0-3", b"0-4294967295", b"1-20000:3%5", b"1,3,5",
         b"gpu:2", b"rtx4000", b"gpu:rtx4000:1,shard:9", b"shard", b"mallory", b"root", b"0", b"-1", b"now", b"* * * * *", b"*/5 1 * * 1",
         b"/tmp", b"/", b"/dev/null", b"/etc/shadow", b"%j.out", b"../../x", b"a|b", b"(a&b)|[c*2]", b"[" * 60, b"a\nb\x1b[2J", b"\x00",
         b"\xff\xfe", b"x" * 300, b"y" * 5000, b"PATH=/usr/bin:/bin", b"/bin/true", b"#!/bin/sh\ntrue\n", b"#!/bin/sh\nsleep 2\n",
         b"mask_cpu:0xffffffffffffffffff", b"map_cpu:0,1,2,3,4,5", b"pmi2", b"all:1", b"127.0.0.1", b"cgroup/v2", b"singleton"]
MOMENTS = {"begin", "deadline", "end", "start", "began", "ended", "since", "due", "started", "history_from", "history_to"}
INDEXES = {"elements", "devices", "cores", "device_cores", "pending", "used_cores", "core_cpus"}
INDEX_TEXTS = [b"0", b"0-1", b"0-3,7", b"0-20000", b"0-4000000:2", b"0-4294967295", b"4294967295", b"5-1", b"1-9%0", b"0-9:0", b","]
DEPTH_MAX = 6


def parts_of(message):
    """The messages that are set in it."""
    parts = []
    for field, value in message.ListFields():
        if field.cpp_type == field.CPPTYPE_MESSAGE:
            parts += list(value) if field.label == field.LABEL_REPEATED else [value]
    return parts


class Maker:
    def __init__(self, random, context):
        self.random = random
        self.context = context  # .jobs: ids of jobs; .key: what opens a step.

    def number(self, low, high):
        pick = self.random.random()
        if pick < 0.25 and self.context.jobs:
            value = self.random.choice(self.context.jobs)
        elif pick < 0.35:
            value = int((time.time() + self.random.choice([-5, -1, 0, 1, 2, 5, 3600])) * 1000)
        elif pick < 0.8:
            value = self.random.choice(NUMBERS) * self.random.choice([1, 1, 1, -1])
        else:
            value = self.random.randrange(0, 200)
        return value if low <= value <= high else self.random.choice([low, 0, 1, high])

    def text(self):
        pick = self.random.random()
        if pick < 0.85:
            return self.random.choice(TEXTS)
        if pick < 0.95:
            return self.random.choice(TEXTS) + self.random.choice([b",", b":", b"", b"-", b" "]) + self.random.choice(TEXTS)
        return self.random.randbytes(self.random.choice([1, 8, 32, 300]))

    def scalar(self, field):
        if field.name in MOMENTS and field.cpp_type == field.CPPTYPE_INT64 and self.random.random() < 0.8:
            return int((time.time() + self.random.choice([-5, -1, 0, 1, 1, 2, 5, 3600])) * 1000)
        if field.name in INDEXES and field.cpp_type == field.CPPTYPE_STRING and self.random.random() < 0.8:
            return self.random.choice(INDEX_TEXTS)
        kinds = field.CPPTYPE_INT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT32, field.CPPTYPE_UINT64
        ranges = (-(1 << 31), (1 << 31) - 1), (-(1 << 63), (1 << 63) - 1), (0, (1 << 32) - 1), (0, (1 << 64) - 1)
        if field.cpp_type in kinds:
            return self.number(*ranges[kinds.index(field.cpp_type)])
        if field.cpp_type == field.CPPTYPE_ENUM:
            known = [value.number for value in field.enum_type.values]
            return self.random.choice([*known, known[-1] + 1, self.number(-(1 << 31), (1 << 31) - 1)])
        if field.cpp_type == field.CPPTYPE_BOOL:
            return self.random.random() < 0.5
        if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
            return self.random.choice([0.0, 1.5, -1.0, 1e300, float("inf"), float("nan")])
        return self.text()

    def count(self):
        return self.random.choice([0, 1, 1, 1, 2, 3] + ([40, 3000] if self.random.random() < 0.03 else []))

    def fill(self, message, depth=0, share=None):
        """Sets some of the fields; of a choice, one."""
        share = share if share is not None else self.random.choice([0.05, 0.2, 0.5])
        chosen = {self.random.choice(one.fields).name for one in message.DESCRIPTOR.oneofs if len(one.fields) > 1}
        for field in message.DESCRIPTOR.fields:
            of_choice = field.containing_oneof is not None and len(field.containing_oneof.fields) > 1
            if field.name not in chosen and (of_choice or self.random.random() > share):
                continue
            self.set(message, field, depth, share)
        return message

    def set(self, message, field, depth, share):
        nested = field.cpp_type == field.CPPTYPE_MESSAGE
        if nested and depth >= DEPTH_MAX:
            return
        if field.label == field.LABEL_REPEATED:
            values = getattr(message, field.name)
            for _ in range(self.count() if depth < 3 else 1):
                if nested:
                    self.fill(values.add(), depth + 1, share)
                else:
                    values.append(self.scalar(field))
        elif nested:
            getattr(message, field.name).SetInParent()
            self.fill(getattr(message, field.name), depth + 1, share)
        else:
            setattr(message, field.name, self.scalar(field))

    def near(self, message, base):
        """`base` with a few fields set anew: what is refused at the first look goes no further."""
        message.MergeFrom(base)
        for _ in range(self.random.choice([1, 1, 2, 4])):
            inner = message
            while (parts := parts_of(inner)) and (inner is message or self.random.random() < 0.6):
                inner = self.random.choice(parts)
            if not inner.DESCRIPTOR.fields:
                continue
            field = self.random.choice(inner.DESCRIPTOR.fields)
            inner.ClearField(field.name)
            self.set(inner, field, 2, 0.2)
        return message

    def spoil(self, content):
        """Bytes that are nearly a message: some turned, cut out, doubled, or announced and not there."""
        content = bytearray(content or b"\x00")
        for _ in range(self.random.choice([1, 1, 2, 8])):
            at = self.random.randrange(len(content))
            how = self.random.randrange(5)
            if how == 0:
                content[at] ^= 1 << self.random.randrange(8)
            elif how == 1:
                content[at] = self.random.choice([0, 0x7f, 0x80, 0xff])
            elif how == 2:
                del content[at:at + self.random.randrange(1, 20)]
            elif how == 3:
                content[at:at] = content[at:at + 50]
            else:
                content[at:at] = b"\xff\xff\xff\xff\x0f"
            content = content or bytearray(b"\x00")
        return bytes(content)
