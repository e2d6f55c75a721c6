import Foundation
package import TarnStore

// Declarations that a library for synchronization needs of Realms, results and conditions.

extension Realm {
  /// The file that the Realm shows.
  package var store: Store { core.store }
}

extension Realm.Configuration {
  /// The names, in files, of the classes whose objects only go to a server.
  package var asymmetricClasses: [String] {
    ModelSchema.of(objectTypes).classes.filter { $0.type is AsymmetricObject.Type }.map(\.name)
  }
}

extension Realm.Error {
  /// The engine's error, in the public form.
  package init(synchronizing error: StorageError) { self.init(error) }
}

extension AnyRealmValue {
  /// A primary key.
  package init(primaryKey value: TarnStore.Value) {
    switch value {
    case .int(let number): self = .int(Int(number))
    case .string(let text): self = .string(text)
    case .objectID(let id): self = .objectId(ObjectId(id))
    case .uuid(let id): self = .uuid(UUID(id))
    default: self = .none
    }
  }
}

extension Results {
  /// The note of a library of synchronization on these results, which belong to one thread.
  package var syncNote: AnyObject? {
    get { note }
    nonmutating set { note = newValue }
  }

  /// The class in the file, and the condition that the objects meet.
  ///
  /// - Throws: `.invalidInput` for results that are not objects of a class by a condition.
  package func classAndCondition() throws(Realm.Error) -> (String, TarnStore.Predicate) {
    guard spec.origin == nil, spec.values == nil, spec.window == nil, spec.stages.isEmpty else {
      throw Realm.Error(
        .invalidInput,
        message:
          "Subscribe to results of objects(_:) and where: a window, distinct objects and the "
          + "elements of a collection have no condition that a server could answer.")
    }
    return (core.binding(of: spec).schema.name, spec.predicate)
  }
}

extension Query where T: ObjectBase {
  /// The condition that a closure builds.
  package static func condition(
    _ build: (Query<T>) -> Query<Bool>
  ) -> TarnStore.Predicate {
    build(Query<T>.root).predicate
  }
}

extension ObjectBase {
  /// The condition of a filter string with arguments, on the objects of this class.
  ///
  /// - Throws: `.invalidInput` with the problem and its place.
  package static func condition(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> TarnStore.Predicate {
    let spec = QuerySpec(self)
    return try FilterText(text, arguments).predicate(
      on: "'\(nameInFile)'", nil,
      names: ClassReflection.of(self).properties.map(\.name), renamed: spec.path
    ) { _ in }
  }

  /// The condition of a filter string on the objects of a class that is given by its name. The
  /// string has the property names of the class if it is among the types, else those of the file.
  ///
  /// - Parameter types: classes of the program; nil for those of default schemas.
  /// - Throws: `.invalidInput` with the problem and its place.
  package static func condition(
    onClass name: String, among types: [ObjectBase.Type]?, _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> TarnStore.Predicate {
    if let known = ModelSchema.of(types)[name] {
      return try known.type.condition(text, arguments)
    }
    return try FilterText(text, arguments).predicate(on: "'\(name)'", nil) { _ in }
  }

  /// The name of the class in files.
  package static var nameInFile: String { ClassReflection.name(of: self) }
}
