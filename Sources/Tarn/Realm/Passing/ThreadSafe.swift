import TarnStore

/// A variable for a managed object or collection that any thread may read and set.
///
/// ```swift
/// @ThreadSafe var order = orders[index]
/// DispatchQueue.global().async {
///   guard let order else { return }  // deleted meanwhile
///   try! order.realm!.write {
///     if !order.isInvalidated { order.isPaid = true }
///   }
/// }
/// ```
///
/// Each read looks the object up in the Realm that lives where the reading code runs, as
/// `Realm(configuration:)` with the same configuration would return, opening it if necessary. The
/// rules are those of `Realm.resolve`. Read it once and keep the result as long as you are in that
/// context: each read is a new lookup. Between the read and a write the object may be deleted.
///
/// It works for local variables, properties and parameters. In the Swift 6 language mode a closure
/// for another thread cannot capture a local variable; it captures the wrapper instead:
///
/// ```swift
/// DispatchQueue.global().async { [$order] in
///   guard let order = $order.wrappedValue else { return }
///   …
/// }
/// ```
///
/// Threading: any; reads and assignments may run at the same time.
@propertyWrapper public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
  private let reference: Lock<ThreadSafeReference<Confined>?>

  /// A variable for a managed object, or nil. Traps where ``ThreadSafeReference`` does. Threading:
  /// where the object belongs.
  public init(wrappedValue: Confined?) {
    reference = Lock(wrappedValue.map { ThreadSafeReference(to: $0) })
  }

  /// The object or collection in the Realm that lives where this code runs; nil if it was deleted
  /// or is nil. Traps if the file cannot be opened here.
  ///
  /// Set it to a managed object of any Realm, where that belongs, or to nil. It traps where
  /// ``ThreadSafeReference`` does.
  public var wrappedValue: Confined? {
    get { reference.withLock { $0 }?.resolveHere() }
    set {
      let new = newValue.map { ThreadSafeReference(to: $0) }
      // The former one is released outside of the lock: that may close a file.
      let former = reference.withLock { held in
        defer { held = new }
        return held
      }
      withExtendedLifetime(former) {}
    }
  }

  /// The variable itself, to be captured or passed on.
  public var projectedValue: ThreadSafe { self }
}
