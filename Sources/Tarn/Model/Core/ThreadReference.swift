import TarnStore

/// Identifies a managed object or collection in every Realm of its file, by names and keys. It
/// holds neither a Realm nor a version of the file, so it can be kept, copied and sent without
/// limit.
protocol ThreadReference: Sendable {
  /// The object or collection on which its existence depends.
  var anchor: ThreadReferenceAnchor { get }
  /// Its counterpart in that instance; nil if it does not exist there.
  func arrival(in core: RealmCore) -> (any ThreadConfined)?
}

/// The place to check whether an object or collection still exists.
enum ThreadReferenceAnchor: Sendable {
  /// All objects of a class, which cannot be deleted.
  case nothing
  case row(ObjectRef)
  case sequence(SequencePlace)
}

/// A reference on its way through public code.
public struct _ThreadReference {
  let content: any ThreadReference
  /// The write that made the object; nil if it existed before.
  let createdInWrite: WriteMark?

  init(_ content: any ThreadReference, createdInWrite: WriteMark?) {
    self.content = content
    self.createdInWrite = createdInWrite
  }

  /// The same for an object derived from it.
  func map(_ transform: (any ThreadReference) -> any ThreadReference) -> _ThreadReference {
    _ThreadReference(transform(content), createdInWrite: createdInWrite)
  }
}

/// A key path to a property, to be passed on.
struct PassedKeyPath<Root, Value>: @unchecked Sendable {
  // because: a key path never changes, and one to a property holds no values.
  let keyPath: KeyPath<Root, Value>
}

/// Identifies an object in every Realm of its file: the class and the key of its row.
struct ObjectThreadReference: ThreadReference {
  let row: ObjectRef
  private let type: ObjectBase.Type
  /// The class's name in the file, for a dynamic object.
  private let dynamicClass: String?

  /// Nil for an unmanaged object.
  init?(_ object: ObjectBase) {
    guard let binding = object._binding else { return nil }
    row = ObjectRef(classID: binding.classID, key: ObjectKey(object._key))
    type = Swift.type(of: object)
    dynamicClass = object is DynamicObject ? binding.reflection.name : nil
  }

  var anchor: ThreadReferenceAnchor { .row(row) }

  func object(in core: RealmCore) -> ObjectBase? {
    let binding = dynamicClass.map { core.dynamicBinding($0) } ?? core.binding(of: type)
    guard binding.classID == row.classID else { return nil }
    return core.object(row.key, existingIn: binding)
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? { object(in: core) }
}

extension ObjectBase {
  /// Traps for an unmanaged object.
  final var objectReference: ObjectThreadReference {
    guard let reference = ObjectThreadReference(self) else {
      trap("internal error: an unmanaged object has no row")
    }
    return reference
  }

  public func _threadReference() -> _ThreadReference {
    _ThreadReference(objectReference, createdInWrite: _createdInWrite)
  }
}

extension ObjectBase: ThreadConfined {
  public func _counterpart(in realm: Realm) -> Self? {
    ObjectThreadReference(self)?.object(in: realm.core).map {
      unsafe unsafeDowncast($0, to: Self.self)
    }
  }
}
