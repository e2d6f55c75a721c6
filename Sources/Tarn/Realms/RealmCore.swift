import CTarn
import TarnStore

// A stand-in: the seam between objects and the Realm instance that manages them.

@usableFromInline final class RealmCore {
  let context: UnsafeMutablePointer<tarn_context>

  init(context: UnsafeMutablePointer<tarn_context>) { self.context = context }

  /// The slow path of every read. Checks the thread and that the object is valid, then sets its
  /// `_image`, `_slot` and `_generation`. While the row is under edit `_image` is the empty image
  /// and `_working` its cluster; otherwise `_working` is nil. Runs no user code.
  func locate(_ object: ObjectBase) { fatalError("stub") }

  /// Before a property is set that has no index and is no link: traps outside a write, notes the
  /// column as touched and returns where to write. The object's fields are right for it after.
  func edit(_ object: ObjectBase, _ column: ColumnID) -> (cluster: WorkingCluster, slot: Int) {
    fatalError("stub")
  }

  /// Sets a property with an index: as `edit`, and notes what changes in the index.
  func setIndexed(_ object: ObjectBase, _ column: ColumnID, _ value: Value) {
    fatalError("stub")
  }

  /// The object that a link points to. Runs no user code but the class's `init()`.
  func linkedObject(
    _ object: ObjectBase, _ column: ColumnID, _ key: ObjectKey, as type: ObjectBase.Type
  ) -> ObjectBase { fatalError("stub") }

  /// Points a link elsewhere: adds an unmanaged target, keeps the backlinks.
  func setLink(_ object: ObjectBase, _ column: ColumnID, to target: ObjectBase?) {
    fatalError("stub")
  }

  /// The bytes of a value that is kept in pieces.
  func longBytes(_ object: ObjectBase, _ column: ColumnID) -> [UInt8] { fatalError("stub") }

  /// True if the row is gone at the version shown. Checks the thread, never traps for the rest.
  func isInvalidated(_ object: ObjectBase) -> Bool { fatalError("stub") }

  /// The keys of the objects of `origin` whose link `property` points to the object, in order.
  func backlinks(
    _ object: ObjectBase, from origin: ObjectBase.Type, property: String
  ) -> [ObjectKey] { fatalError("stub") }

  /// An accessor for a row that exists.
  func object(_ type: ObjectBase.Type, _ key: ObjectKey) -> ObjectBase { fatalError("stub") }
}
