import TarnStore

/// A reference to a managed object or collection for another thread, queue or actor.
///
/// Managed objects belong to one thread, queue or actor. A reference to one does not: create it
/// there, send or capture it, and resolve it where the object is needed.
///
/// ```swift
/// let reference = ThreadSafeReference(to: order)
/// DispatchQueue.global().async {
///   let realm = try! Realm()
///   guard let order = realm.resolve(reference) else { return }  // deleted meanwhile
///   …
/// }
/// ```
///
/// It can be copied, kept, and resolved any number of times, on several threads at once. It holds
/// names and keys, never a version of the file: only the file stays open while a reference exists,
/// like for a Realm. The article <doc:PassingData> lists what can be referred to, and how it is
/// found.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
  private let parcel: Parcel

  /// A reference to a managed object. Threading: where that belongs; a frozen object anywhere.
  ///
  /// Traps for an unmanaged, deleted or invalidated object, for results derived from a collection
  /// that was created in the open write, for sections by a block, and in a migration.
  public init(to confined: Confined) {
    let realm = confined.realmToLeave("passed on")
    realm.core.checkThread()
    parcel = Parcel(confined._threadReference(), from: realm.core)
  }

  /// True if the object will never exist again: it was deleted in the newest version of the file,
  /// or created in a write that was cancelled. Results of a whole class are never
  /// invalidated; results of a collection are invalidated with the collection. Threading: any.
  ///
  /// A Realm at an older version may still have the object, and `resolve` returns it there.
  public var isInvalidated: Bool { parcel.isGone }

  /// - Returns: the object; nil if it does not exist there.
  func resolve(in core: RealmCore) -> Confined? {
    guard let found = parcel.arrival(in: core) else { return nil }
    guard let found = found as? Confined else {
      trap("internal error: a reference to a '\(type(of: found))' as '\(Confined.self)'")
    }
    return found
  }

  /// The object in the Realm that lives where this code runs.
  func resolveHere() -> Confined? { resolve(in: parcel.instanceHere()) }
}

extension Realm {
  /// The object of a reference, in this Realm; nil if it does not exist here: it was deleted, or
  /// created in a write that was cancelled.
  ///
  /// A Realm at an older version than the reference, or at the same one if that was created in a
  /// write, is refreshed first, which calls observers. A Realm without a version starts at that of
  /// the reference if it is still in use and was not in a write, else at the newest. A Realm at a
  /// newer version stays there, and so do a Realm in a write, one that is calling an observer, and
  /// a frozen one.
  ///
  /// Traps for a reference to an object in another file.
  ///
  /// - Returns: an object or collection of this Realm.
  public func resolve<Confined: ThreadConfined>(
    _ reference: ThreadSafeReference<Confined>
  ) -> Confined? {
    reference.resolve(in: core)
  }
}

/// The content of a reference of any type.
private final class Parcel: Sendable {
  private let content: any ThreadReference
  /// The write that created the object, which was open then.
  private let createdInWrite: WriteMark?
  /// While it is held, opening the file again gives the same store.
  private let store: Store
  private let configuration: Realm.Configuration
  private let home: Scheduler.Key
  private let version: Version
  /// The snapshot of that version, as long as it is in use elsewhere.
  private weak let snapshot: Snapshot?
  private let isFromWrite: Bool

  init(_ reference: _ThreadReference, from core: RealmCore) {
    require(
      !core.isOfMigration,
      "Objects of a migration cannot be passed on: they end with its block, and their keys may "
        + "change. Pass them after the migration.")
    content = reference.content
    createdInWrite = reference.createdInWrite
    store = core.store
    configuration = core.configuration
    home = core.frozen?.home ?? core.scheduler.key
    snapshot = core.shown().snapshot
    version = core.shown().snapshot.version
    isFromWrite = core.session != nil
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    require(
      core.store === store,
      "The reference is to an object or collection of '\(store.path)' and cannot be resolved in "
        + "'\(core.store.path)'. Resolve it in a Realm of its own file.")
    core.catchUp(to: version, isFromWrite ? nil : snapshot)
    let found = content.arrival(in: core)
    // Checked last: the next write reuses the keys of a cancelled one.
    return createdInWrite?.wasCancelled == true ? nil : found
  }

  func instanceHere() -> RealmCore {
    RealmCache.here(store, configuration, home: home, for: "to resolve a reference")
  }

  var isGone: Bool {
    if let createdInWrite {
      if createdInWrite.wasCancelled { return true }
      if createdInWrite.isOpen { return false }
    }
    return trapping { () throws(StorageError) in
      let reader = try SnapshotReader(store.newestSnapshot())
      return switch content.anchor {
      case .nothing: false
      case .row(let row): try reader.row(row.key, in: row.classID) == nil
      case .sequence(let place): try reader.sequence(at: place) == nil
      }
    }
  }
}

extension RealmCore {
  /// True for the two sides of a migration, whose objects end with its block.
  fileprivate var isOfMigration: Bool { wakeUp == nil && !isFrozen }

  /// Advances to a version at which the object can be found, if allowed.
  ///
  /// - Parameter snapshot: the version for an instance without one; nil if the newest version is
  ///   wanted.
  fileprivate func catchUp(to version: Version, _ snapshot: Snapshot?) {
    if isFrozen { return }
    checkThread()
    if session != nil || needsReset { return }
    guard let shown = state.version else {
      if let snapshot { start(with: snapshot) }
      return
    }
    if shown < version || shown == version && snapshot == nil { refresh() }
  }

  /// Starts at an older version than the newest, unless that has another schema.
  private func start(with snapshot: Snapshot) {
    trapping { () throws(StorageError) in
      guard try newestFittingSnapshot().schema.epoch == snapshot.schema.epoch else { return }
      state.begin(with: try SnapshotReader(snapshot))
    }
    rowsMoved()
    if isBehind { scheduleTurn() }
  }
}
