import Foundation
import TarnStore
import Testing

@testable import Tarn

// One model in the forms that it takes over time. Each form is a namespace, so that all of them
// are called the same in files; none is in default schemas.

/// What the files of these tests are made with.
enum PetsOld {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A property and a class more.
enum PetsAdded {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    @Persisted(indexed: true) var weight = 5
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class Collar: Object {
    @Persisted var size: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self, Collar.self] }
}

/// An enum more, whose raw values have no zero.
enum PetsMoody {
  enum Mood: String, PersistableEnum { case calm, wild }
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    @Persisted var mood: Mood
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// Another index; the one that was is gone.
enum PetsIndexed {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted(indexed: true) var age: Int
    @Persisted var nick: String?
    @Persisted var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A property less.
enum PetsAgeless {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A property under another name.
enum PetsRenamed {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A property of another type.
enum PetsTyped {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: String
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A property that has become optional.
enum PetsLoose {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String?
    @Persisted(indexed: true) var age: Int?
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A property that has become required.
enum PetsStrict {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// No primary key any more.
enum PetsKeyless {
  class Pet: Object {
    @Persisted var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// Another primary key, of another type.
enum PetsNamed {
  class Pet: Object {
    @Persisted var id: Int
    @Persisted(primaryKey: true) var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// Another integer primary key.
enum PetsAged {
  class Pet: Object {
    @Persisted var id: Int
    @Persisted var name: String
    @Persisted(primaryKey: true) var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: House?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// A link to another class.
enum PetsMoved {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    @Persisted(indexed: true) var tag: String
    @Persisted var home: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class House: Object {
    @Persisted var street: String
    @Persisted var pet: Pet?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self, House.self] }
}

/// Only pets, without houses.
enum PetsHomeless {
  class Pet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static var types: [ObjectBase.Type] { [Pet.self] }
}
