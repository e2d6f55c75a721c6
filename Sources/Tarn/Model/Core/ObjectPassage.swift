import TarnStore

/// Identifies an object in every Realm of its file: the class and the key of its row.
struct ObjectPassage: Passage {
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

  var anchor: PassageAnchor { .row(row) }

  func object(in core: RealmCore) -> ObjectBase? {
    let binding = dynamicClass.map { core.dynamicBinding($0) } ?? core.binding(of: type)
    guard binding.classID == row.classID else { return nil }
    return core.object(row.key, existingIn: binding)
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? { object(in: core) }
}

extension ObjectBase {
  /// Traps for an unmanaged object.
  final var objectPassage: ObjectPassage {
    guard let passage = ObjectPassage(self) else {
      trap("internal error: an unmanaged object has no row")
    }
    return passage
  }

  public func _passage() -> _Passage {
    _Passage(objectPassage, createdInWrite: _createdInWrite)
  }
}

extension ObjectBase: ThreadConfined {
  public func _counterpart(in realm: Realm) -> Self? {
    ObjectPassage(self)?.object(in: realm.core).map { unsafe unsafeDowncast($0, to: Self.self) }
  }
}
