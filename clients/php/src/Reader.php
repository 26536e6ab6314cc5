<?php

declare(strict_types=1);

namespace Lunas;

/** Says of what a list consists, where PHP's own types cannot. */
#[\Attribute(\Attribute::TARGET_PARAMETER | \Attribute::TARGET_PROPERTY)]
final class ListOf
{
    public function __construct(public readonly string $class)
    {
    }
}

/** Turns decoded JSON into the classes of Types.php, by the names and types of their members. Unknown members are skipped. */
final class Reader
{
    /**
     * @template T of object
     * @param class-string<T> $class
     * @param array<string, mixed> $json
     * @return T
     */
    public static function read(string $class, array $json): object
    {
        $members = [];
        foreach ((new \ReflectionMethod($class, '__construct'))->getParameters() as $parameter) {
            $name = $parameter->getName();
            if (array_key_exists($name, $json)) {
                $members[$name] = self::value($parameter, $json);
            }
        }
        try {
            return new $class(...$members);
        } catch (\TypeError) {
            throw new LunasError('UNEXPECTED_ANSWER', "the answer is not a $class");
        }
    }

    /** @param array<string, mixed> $json */
    private static function value(\ReflectionParameter $parameter, array $json): mixed
    {
        $value = $json[$parameter->getName()];
        $type = $parameter->getType();
        $list = $parameter->getAttributes(ListOf::class)[0] ?? null;
        if (!is_array($value)) {
            return $value;
        }
        if ($list !== null) {
            return array_map(fn (array $item): object => self::read($list->newInstance()->class, $item), $value);
        }
        if ($type instanceof \ReflectionUnionType) {
            // Only what an event is about has several shapes.
            return match (strtok($json['type'] ?? '', '.')) {
                'payment' => self::read(Payment::class, $value),
                'refund' => self::read(Refund::class, $value),
                'apikey' => self::read(RevokedApiKey::class, $value),
                default => $value,
            };
        }
        return $type instanceof \ReflectionNamedType && !$type->isBuiltin() ? self::read($type->getName(), $value) : $value;
    }
}
