import Synchronization
import TarnStore

/// A value that is worked out once, by the thread that asks first. Others wait for it.
final class OnceValue<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private let known = AtomicLazyReference<Box>()
  /// Held by who works it out.
  private let turn = Lock(())

  var isKnown: Bool { known.load() != nil }

  func value(_ make: () throws(StorageError) -> Value) throws(StorageError) -> Value {
    if let known = known.load() { return known.value }
    return try turn.withLock { _ throws(StorageError) in
      if let known = known.load() { return known.value }
      return known.storeIfNil(Box(try make())).value
    }
  }
}
