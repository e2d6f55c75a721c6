import Foundation
import TarnStore

/// A filter string with its arguments, and its conversion into a condition on objects.
struct FilterText {
  let text: String
  let arguments: [Any?]

  init(_ text: String, _ arguments: [Any?]) {
    self.text = text
    self.arguments = arguments
  }

  /// The condition on the objects of a query.
  ///
  /// - Throws: `.invalidInput` with the problem and the character where it is.
  func predicate(
    on spec: QuerySpec, _ core: RealmCore
  ) throws(Realm.Error) -> TarnStore.Predicate {
    let binding = core.binding(of: spec)
    let schema = core.shown().schema.schema
    func isProperty(_ name: String, _ path: Path) -> Bool {
      guard let column = spec.path(path + [.property(name)]).last?.propertyName else {
        return false
      }
      return schema.hasProperty(column, behind: path, binding.classID)
    }
    return try predicate(
      on: "'\(binding.schema.name)'", core, names: binding.reflection.properties.map(\.name),
      renamed: spec.path,
      isProperty: isProperty
    ) { (parsed) throws(PredicateSyntaxError) in
      try parsed.check(on: binding.classID, in: schema)
    }
  }

  /// - Parameters:
  ///   - core: nil for unmanaged objects.
  ///   - names: the properties that a path may begin with.
  ///   - renamed: converts a path of the string into the file's names.
  ///   - isProperty: whether the target of a path has a property with that name.
  ///   - check: throws if the condition does not fit the queried objects.
  func predicate(
    on name: String, _ core: RealmCore?, names: [String] = [],
    renamed: @escaping (Path) -> Path = { $0 },
    isProperty: @escaping (_ name: String, _ path: Path) -> Bool = { _, _ in false },
    check: (ParsedPredicate) throws(PredicateSyntaxError) -> Void
  ) throws(Realm.Error) -> TarnStore.Predicate {
    let arguments = arguments.map { FilterArgument($0, core).argument }
    do throws(PredicateSyntaxError) {
      let parsed = try PredicateParser.parse(
        text, arguments, renamed: renamed, isProperty: isProperty)
      try check(parsed)
      return parsed.predicate
    } catch {
      let error = error.advising(on: names, in: text)
      throw Realm.Error(
        .invalidInput,
        message: "Invalid filter \"\(text)\" on \(name) at character \(error.offset + 1): "
          + "\(error.message).")
    }
  }
}

/// The argument for a placeholder.
private struct FilterArgument {
  let argument: PredicateArgument

  init(_ value: Any?, _ core: RealmCore?) {
    guard let value, let content = flattened(value) else {
      argument = .value(.null)
      return
    }
    argument = Self.argument(content, core, isElement: false)
  }

  private static func argument(
    _ value: Any, _ core: RealmCore?, isElement: Bool
  ) -> PredicateArgument {
    switch value {
    case let object as ObjectBase:
      return self.object(object, core)
    case let collection as any RealmCollection:
      return isElement ? .unusable("a list of lists") : values(of: collection, core)
    case is any _CollectionProperty: return .unusable("a map")
    case let date as Date where !date.isStorable:
      return .unusable("a date that a Realm cannot store")
    case AnyRealmValue.date(let date) as AnyRealmValue where !date.isStorable:
      return .unusable("a date that a Realm cannot store")
    case let value as any _Persistable: return boxed(value._box(), core)
    case let shape as any _GeoShape:
      return isElement ? .unusable("a shape") : .shape(shape.stored)
    case is NSNull: return .value(.null)
    case let number as any BinaryInteger:
      guard let whole = Int64(exactly: number) else {
        return .unusable("\(number), which no property can hold")
      }
      return .value(.int(whole))
    case let number as CGFloat: return .value(.double(Double(number)))
    case let number as Decimal: return boxed(Decimal128(number)._box(), core)
    case let number as NSNumber: return .value(self.number(number))
    case let bytes as NSData: return .value(Data(referencing: bytes)._box().value)
    case let date as NSDate:
      let seconds = date.timeIntervalSinceReferenceDate
      return argument(Date(timeIntervalSinceReferenceDate: seconds), core, isElement: isElement)
    case let id as NSUUID:
      return .value(UUID(uuidString: id.uuidString).map { $0._box().value } ?? .null)
    case let text as Substring: return .value(.string(String(text)))
    case is [AnyHashable: Any]: return .unusable("a dictionary")
    case let sequence as any Sequence:
      return isElement ? .unusable("a list of lists") : values(of: sequence, core)
    default: return .unusable("a '\(type(of: value))', which no property can be compared with")
    }
  }

  private static func boxed(_ boxed: _BoxedValue, _ core: RealmCore?) -> PredicateArgument {
    if let object = boxed.object { return self.object(object, core) }
    return boxed.nested == nil ? .value(boxed.value) : .unusable("a value that is a list or map")
  }

  private static func object(_ object: ObjectBase, _ core: RealmCore?) -> PredicateArgument {
    if let embedded = object as? EmbeddedObject {
      do throws(MemberMistake) {
        guard case .members(let name, let members) = try embedded.membersToCompare() else {
          return .unusable("an object without members")
        }
        return .members(of: name, members)
      } catch {
        return .unusable("an object that cannot be compared: \(error.message)")
      }
    }
    if object.isGone { return .unusable("a deleted object") }
    guard let owner = object._core, let binding = object._binding else {
      return .value(.unmanagedObject)
    }
    // Unmanaged objects link to others by their keys alone.
    guard let core else { return .value(.link(ObjectKey(object._key))) }
    guard owner.store === core.store else { return .unusable("an object of another Realm") }
    return .value(.object(binding.classID, ObjectKey(object._key)))
  }

  private static func number(_ number: NSNumber) -> Value {
    if let whole = Int64(exactly: number) { return .int(whole) }
    return .double(number.doubleValue)
  }

  private static func values<S: Sequence>(of sequence: S, _ core: RealmCore?) -> PredicateArgument {
    var values: [Value] = []
    var objects: [Operand] = []
    for element in sequence {
      guard let content = flattened(element) else {
        values.append(.null)
        continue
      }
      switch argument(content, core, isElement: true) {
      case .value(let value): values.append(value)
      case .values: return .unusable("a list of lists")
      case .members(let name, let members): objects.append(.members(of: name, members))
      case .objects: return .unusable("a list of lists")
      case .shape: return .unusable("a list with a shape")
      case .unusable(let what): return .unusable("a list with \(what)")
      }
    }
    return objects.isEmpty ? .values(values) : .objects(objects + values.map { .value($0) })
  }
}
